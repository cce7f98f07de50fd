"""Drawing of documents' pages on the client's side."""
