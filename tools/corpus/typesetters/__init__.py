"""The programs that set a document: each module has `set_both(document, look)`.

It returns the PDF and its twin, in which each leaf's letters have the colour of `document.colour`.
"""
