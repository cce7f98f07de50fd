"""Tools that act: functions, commands and MCP servers that answer the calls of agents."""
