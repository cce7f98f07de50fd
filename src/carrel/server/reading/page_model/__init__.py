"""A taught model of pages: what each piece of text is, and which pieces belong together."""
