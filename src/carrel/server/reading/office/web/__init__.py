"""HTML to pages: elements, inline text, tables."""
