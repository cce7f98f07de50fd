"""Routes about the service itself: health, leases, documentation, MCP."""
