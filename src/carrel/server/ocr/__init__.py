"""Documents that requests name, found and read."""
