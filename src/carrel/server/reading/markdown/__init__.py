"""Converts page layouts to the Markdown, blocks and scores of the API."""
