"""Batch jobs: many requests, worked off in the background."""
