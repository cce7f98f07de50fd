"""Flows of chats: begin, compare, export."""
