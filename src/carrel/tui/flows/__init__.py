"""Tasks that take several steps, each of which may ask for something."""
