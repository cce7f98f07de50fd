"""The data folder: its lock and format, the log, the signing keys."""
