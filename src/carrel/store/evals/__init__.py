"""Evals: sets of test cases run against versions of agents, kept, and compared."""
