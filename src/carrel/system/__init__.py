"""Files, locks and programs of the operating system."""
