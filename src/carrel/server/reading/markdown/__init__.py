"""A page taken apart, as the Markdown, blocks and scores that travel."""
