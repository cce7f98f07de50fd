"""The lines and panes around every screen."""
