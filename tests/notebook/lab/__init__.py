"""Panels in a real JupyterLab. A package, so that one JupyterLab serves all of its tests."""
