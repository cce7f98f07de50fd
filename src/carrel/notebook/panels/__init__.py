"""The panels, one module each."""
