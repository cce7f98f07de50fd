"""Slices, and the actions that write them on one owner loop."""
