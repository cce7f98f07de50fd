"""Search by words across all libraries and chats."""
