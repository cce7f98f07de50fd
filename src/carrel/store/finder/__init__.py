"""Search by name across files, documents, agents and chats."""
