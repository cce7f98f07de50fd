"""Errors in words and progress, for the commands on a server's storage."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from carrel.cli import output
from carrel.cli.errors import CommandError


@contextmanager
def explain_errors(disk: str) -> Iterator[None]:
    """Turn the errors of a server's storage into one line.

    Raises:
        CommandError: with the message of the error.
    """
    from carrel.server.admin.backups.archive import BackupError
    from carrel.server.datadir.folder import FolderError
    from carrel.server.errors import ApiError
    from carrel.server.housekeeping.gc_pause import CollectingError
    from carrel.server.records.cluster.shared import SharedDatabaseError
    from carrel.server.settings import ServerSettingsError

    try:
        yield
    except (
        BackupError,
        CollectingError,
        FolderError,
        ServerSettingsError,
        SharedDatabaseError,
    ) as error:
        raise CommandError(str(error)) from error
    except ApiError as error:
        raise CommandError(error.message) from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise CommandError(
            f"{disk[0].upper()}{disk[1:]} is full. Free some space and run the command again: it"
            " goes on where it stopped."
        ) from error


@contextmanager
def progress_of(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many blobs are done, on a terminal."""
    with output.show_changing() as show:
        yield lambda done, total: show(
            f"{label} bytes: {done:,} of {output.counted(total, 'blob')}"
        )
