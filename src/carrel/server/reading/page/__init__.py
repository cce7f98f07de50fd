"""A page as data: boxes, words, lines, regions, tables, in points from the top left corner."""
