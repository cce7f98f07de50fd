"""The panels, a module each."""
