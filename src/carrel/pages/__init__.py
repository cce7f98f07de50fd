"""A document's pages as pictures, on this side of the wire."""
