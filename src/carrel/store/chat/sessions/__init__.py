"""Saved chats: on this machine and at the service."""
