"""Errors as user-readable problems, the same in both faces."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from carrel.client.http import errors
from carrel.store.core import crash

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error for a user: the event, its details, and the next step.

    `lost` means that the service was not reached; the error is cleared once it is back.
    """

    title: str
    detail: str
    advice: str | None = None
    lost: bool = False

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.title}.", self.detail, self.advice) if part)

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """Convert an exception to a problem.

        An unexpected exception is logged with its traceback, and the problem names the path of its
        crash report.
        """
        if isinstance(error, ProblemError):
            return error.problem
        if isinstance(error, OSError) and error.strerror:
            return _system_problem(error)
        return _known_problem(error) or _unexpected_problem(error)


class ProblemError(Exception):
    """Ends an action with a problem for the user, given as such or in its words."""

    def __init__(self, problem: Problem | str, detail: str = "", advice: str | None = None) -> None:
        if isinstance(problem, str):
            problem = Problem(problem, detail, advice)
        super().__init__(problem.title)
        self.problem = problem


def _system_problem(error: OSError) -> Problem:
    name = "" if error.filename is None else str(error.filename)
    if isinstance(error, FileNotFoundError):
        return Problem("No such file", name, "Check the path and try again.")
    if isinstance(error, IsADirectoryError):
        return Problem("This is a folder, not a file", name, "Choose the files inside it.")
    if isinstance(error, PermissionError):
        return Problem("No permission", name, "Check who may read and write it.")
    return Problem("The system refused", ": ".join(filter(None, (name, error.strerror))))


def _known_problem(error: BaseException) -> Problem | None:
    # Imported late: an error of these modules means that they are loaded.
    from carrel.config.profiles import ConfigError
    from carrel.local.installed import LocalError, NotInstalled
    from carrel.pages.errors import NoPicture
    from carrel.sync.errors import SyncError, TooManyDeletions
    from carrel.yamlfile import FileError

    match error:
        case errors.Unreachable():
            # Every message of this error names the next step.
            return Problem("The connection failed", str(error), lost=True)
        case errors.TooLarge():
            return Problem("The file is too large", str(error))
        case errors.Unauthorized():
            advice = "Give another: F3 and e in the app, api_key in a notebook."
            return Problem("The key was refused", str(error), advice)
        case errors.NotFound():
            return Problem("Not there any more", str(error), "Reload the list.")
        case errors.Invalid():
            return Problem("The service did not accept this", str(error))
        case errors.UnreadableFile():
            return Problem("This file can't be read", str(error), "Check it and try again.")
        case errors.ServiceError(code="3740"):  # the interface's code of such a document
            return Problem("This file can't be read", str(error))
        case errors.ServiceError(status=507):
            # A short title: a row of Files has room for little more.
            return Problem("Not stored", str(error), error.reference)
        case errors.ServiceError() if error.reference:
            title = "The service answered with an error"
            return Problem(title, str(error), error.reference)
        case errors.ClientError():
            return Problem("The service answered with an error", str(error))
        case NotInstalled():
            return Problem(
                "The local server is not installed",
                "This installation has the workbench alone.",
                "Install it with: pip install 'carrel[server]', or connect to a hosted service.",
            )
        case LocalError():
            return Problem("The server on this machine did not start", str(error))
        case TooManyDeletions():
            return Problem("Too many deletions", str(error), "Look at the preview, then confirm.")
        case SyncError():
            return Problem("The folder was not synced", str(error))
        case ConfigError():
            return Problem("The settings cannot be used", str(error))
        case FileError():
            return Problem("The file cannot be used", str(error), "Correct it and try again.")
        case NoPicture():
            return Problem("No picture of this page", str(error))
    return None


def _unexpected_problem(error: BaseException) -> Problem:
    logger.error("unexpected error", exc_info=error)
    report = crash.write_report(error)
    return Problem(
        "Something went wrong inside the workbench",
        type(error).__name__,
        f"The report is in {report}." if report else "No report could be written.",
    )
