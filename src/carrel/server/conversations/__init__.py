"""Conversations: answers as entries, and handoffs between agents."""
