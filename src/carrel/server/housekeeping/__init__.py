"""Background tasks of a running server."""
