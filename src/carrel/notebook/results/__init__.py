"""Results of calls as objects with a display in a cell."""
