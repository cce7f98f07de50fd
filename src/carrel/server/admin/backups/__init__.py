"""Backups: records, bytes and secrets of a server in one folder, made while it runs.

A backup has the layout of a data folder. The records are one snapshot, taken before the bytes
they name are copied; garbage collection waits meanwhile. A manifest is written last.
"""
