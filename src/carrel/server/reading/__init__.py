"""Reads documents into pages. Only child processes touch hostile bytes.

A page's way through it: `pdf` takes its text layer, rules, shades and pictures, `scans` has `ocr`
find lines in its picture. `page_model.pieces` cuts the text at wide gaps; the taught network of
`page_model` says what each piece is (heading, cell, caption …) and which neighbours share a block,
a table, a row, a column; what a tagged PDF says of it is believed as far as both agree. `tables`
takes each table apart: by rules where they frame every cell, as a tagged PDF tells it where text
stands so, else as the network sees its rows and columns. `layout` sets figures apart, joins the
other pieces to blocks, puts these in order and gives headings their level in the document
(`evidence`). `markdown` writes it all as the page that travels; a step that fails is left out
(`fence`). What reads from the right is mirrored first, so that the network sees all pages alike.
"""
