"""The wire format: a pydantic model for every request and response, one module an area."""
