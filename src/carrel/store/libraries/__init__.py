"""Libraries with their documents, search and processing status."""
