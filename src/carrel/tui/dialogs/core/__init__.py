"""Dialogs that any screen may open, and the frame of every dialog."""
