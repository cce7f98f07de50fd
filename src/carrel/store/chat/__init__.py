"""Chats with agents: sessions, questions, answers, attachments and tools."""
