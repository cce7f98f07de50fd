"""The language model and agent completions."""
