"""The base of every panel, and shared parts."""
