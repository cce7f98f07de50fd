"""Server side of the reading processes, and the messages between them."""
