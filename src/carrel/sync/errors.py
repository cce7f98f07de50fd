"""Errors that end a sync, in words fit to be shown."""


class SyncError(Exception):
    """A sync cannot begin or go on; the message says why and what to do."""


class TooManyDeletions(SyncError):
    """A sync would delete more than it may without being asked; nothing was done.

    `count` documents of the `brought` that came from the folder, where `limit` may go.
    """

    def __init__(self, count: int, brought: int, limit: int) -> None:
        super().__init__(
            f"This would delete {count:,} of the {brought:,} documents that came from the folder; "
            f"the limit is {limit:,}. Nothing was changed."
        )
        self.count = count
        self.brought = brought
        self.limit = limit
