"""What a running cell shows: progress, questions, errors."""
