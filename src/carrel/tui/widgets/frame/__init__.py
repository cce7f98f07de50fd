"""The bars and panes around every screen."""
