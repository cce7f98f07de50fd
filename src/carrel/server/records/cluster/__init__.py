"""Records that servers of one database share: secrets, workers, named locks."""
