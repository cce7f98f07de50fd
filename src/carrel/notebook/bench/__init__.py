"""The bench: plain calls over the shared state, and the panels that it opens."""
