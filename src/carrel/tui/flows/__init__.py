"""Tasks of several steps, each of which may open a dialog."""
