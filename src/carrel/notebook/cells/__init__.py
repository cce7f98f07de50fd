"""The output of a running cell: progress, questions, errors."""
