"""Dialogs for any screen, and the frame of every dialog."""
