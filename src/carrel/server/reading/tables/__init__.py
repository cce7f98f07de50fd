"""Tables: their detection on a page, their cells, and their output formats."""
