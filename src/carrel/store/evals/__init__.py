"""Evals: sets of test cases, run against versions of agents, stored and compared."""
