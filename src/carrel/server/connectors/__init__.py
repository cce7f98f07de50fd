"""Connectors: MCP servers named by the operator; agents may use their tools."""
