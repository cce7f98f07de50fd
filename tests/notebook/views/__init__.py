"""Panels in a browser with a model instead of a kernel. A package, so that all share a browser."""
