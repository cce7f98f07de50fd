"""Tasks about chats: begin, compare, export."""
