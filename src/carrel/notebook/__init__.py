"""The Jupyter face: panels over the shared state, one module per panel."""
