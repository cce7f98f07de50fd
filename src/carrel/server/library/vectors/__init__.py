"""Vectors of chunks: compared in memory, or by pgvector."""
