"""API keys, organisations, users, and the caller of a request."""
