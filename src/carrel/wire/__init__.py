"""What travels: a pydantic model for every request and answer of the interface, a module an area."""
