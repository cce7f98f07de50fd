"""The local layout of tables and panes."""
