"""Where somebody was, to go back and forward as in a browser."""
