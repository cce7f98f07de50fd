"""Full-text search: words, spelling, and the index of each kind of database."""
