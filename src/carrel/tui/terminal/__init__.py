"""The terminal: keys, pasted paths, the clipboard, and robustness."""
