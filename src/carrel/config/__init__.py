"""Profiles, settings, and edits of TOML files that keep their comments."""
