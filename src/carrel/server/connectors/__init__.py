"""Connectors: MCP servers that the operator names, whose tools agents may use."""
