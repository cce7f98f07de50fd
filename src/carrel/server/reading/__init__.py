"""A document in, its pages out. Hostile bytes are touched only by child processes."""
