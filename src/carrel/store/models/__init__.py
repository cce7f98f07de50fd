"""Model servers of this machine for the local server."""
