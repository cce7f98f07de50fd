"""Errors that end a sync, worded for display."""


class SyncError(Exception):
    """A sync cannot start or continue; the message tells the reason and the next step."""


class TooManyDeletions(SyncError):
    """A sync would delete more documents than its limit; nothing was changed.

    `count` of the `brought` documents from the folder would be deleted; `limit` is the largest
    number allowed.
    """

    def __init__(self, count: int, brought: int, limit: int) -> None:
        super().__init__(
            f"This would delete {count:,} of the {brought:,} documents that came from the folder; "
            f"the limit is {limit:,}. Nothing was changed."
        )
        self.count = count
        self.brought = brought
        self.limit = limit
