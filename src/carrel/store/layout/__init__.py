"""The layout of tables and panes; its state is apart, for the first paint loads it alone."""
