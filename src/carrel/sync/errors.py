"""What ends a sync, in words fit to be shown."""


class SyncError(Exception):
    """A sync cannot begin or go on; the message says why and what to do."""
