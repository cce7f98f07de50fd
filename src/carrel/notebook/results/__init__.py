"""Results of calls as objects that show themselves in a cell."""
