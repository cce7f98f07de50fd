"""The server's side of the processes that read, and the messages between them."""
