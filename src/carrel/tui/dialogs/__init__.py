"""Modal dialogs; each returns an answer."""
