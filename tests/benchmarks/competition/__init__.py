"""A table competition's documents: their truth, the rule that scores them, and other readers."""
