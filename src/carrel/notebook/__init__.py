"""The Jupyter face: panels over the shared state, a module a panel."""
