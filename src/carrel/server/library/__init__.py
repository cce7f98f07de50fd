"""Libraries: documents processed into searchable text."""
