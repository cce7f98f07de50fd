"""The terminal face: a full-screen app in Textual over the shared state."""
