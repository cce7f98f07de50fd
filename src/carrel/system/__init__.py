"""Files, locks and programs of this machine."""
