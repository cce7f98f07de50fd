"""Tables: where they stand on a page, their cells, and the forms in which they travel."""
