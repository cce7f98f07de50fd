"""The local cache of documents and their readings."""
