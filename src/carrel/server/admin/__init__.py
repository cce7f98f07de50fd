"""The operator's tools: keys, backups, moves between storages, checks."""
