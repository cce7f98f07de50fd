"""A journal on disk of work in progress, so that the next start can resume it."""
