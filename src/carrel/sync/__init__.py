"""A folder kept in step with a library."""
