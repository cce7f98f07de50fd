"""What travels: a pydantic model for every request and answer, a module an area."""
