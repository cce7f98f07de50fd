"""A document's page: its picture, its text, the strip of pages."""
