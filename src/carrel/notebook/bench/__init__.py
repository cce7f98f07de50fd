"""The bench: calls and panels over the shared state."""
