"""The terminal: keys, pasted paths, the clipboard, and staying alive."""
