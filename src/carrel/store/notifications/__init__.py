"""Short messages on finished work."""
