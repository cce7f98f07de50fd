"""A preview of the selected file."""
