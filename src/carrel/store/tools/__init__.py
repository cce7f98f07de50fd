"""Tools: functions, commands and MCP servers that answer agents' calls."""
