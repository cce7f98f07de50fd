"""The details of a file, a document, a library; the diff of two versions."""
