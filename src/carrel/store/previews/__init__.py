"""A look into the selected file without opening it."""
