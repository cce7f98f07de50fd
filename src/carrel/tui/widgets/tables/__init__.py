"""Tables of any length, and the rows of agents and libraries."""
