"""Modal dialogs; each gives back an answer."""
