"""Text that is scrolled, searched and selected."""
