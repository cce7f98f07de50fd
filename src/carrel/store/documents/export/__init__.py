"""Export of the pages read: as files, and of their parts to the clipboard."""
