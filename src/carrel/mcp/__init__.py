"""Tools for the agents of other programs, over the Model Context Protocol."""
