"""Safe HTML for cells and panels."""
