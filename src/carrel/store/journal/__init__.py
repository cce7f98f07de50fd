"""Work on disk before it begins, so that the next start finds what was left of it."""
