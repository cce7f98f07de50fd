"""Exit codes, and errors as one line."""

import enum
import sys
from pathlib import Path

from carrel.client.http.errors import ClientError, ServiceError, Unreachable


class Code(enum.IntEnum):
    """Exit codes; part of the interface for scripts."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    DIFFERENT = 4
    DRIFT = 5
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends a command with a message about the failure and the next step."""

    def __init__(self, message: str, code: Code = Code.FAILED) -> None:
        super().__init__(message)
        self.code = code


def report(error: BaseException) -> Code:
    """Print the error that ended a command as one line on stderr; return the exit code.

    An unexpected error leaves a crash report; the line names its path.
    """
    if isinstance(error, KeyboardInterrupt):
        return Code.INTERRUPTED
    code, message = _explain(error)
    print(f"carrel: {message}", file=sys.stderr)
    return code


def _explain(error: BaseException) -> tuple[Code, str]:
    from pydantic import ValidationError

    from carrel.config.profiles import ConfigError
    from carrel.local.installed import LocalError
    from carrel.store.core.problem import ProblemError
    from carrel.sync.errors import SyncError
    from carrel.yamlfile import FileError

    match error:
        case CommandError():
            return error.code, str(error)
        case ValidationError():
            # The client checks answers, so the invalid value was typed.
            wrong = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in wrong["loc"])
            return Code.USAGE, f"{where}: {wrong['msg']}."
        case Unreachable():
            return Code.UNREACHABLE, str(error)
        case ServiceError() if error.reference:
            return Code.FAILED, f"{error} {error.reference}"
        case ClientError() | SyncError():
            return Code.FAILED, str(error)
        case ProblemError():
            return Code.FAILED, str(error.problem)
        case ConfigError() | FileError():
            return Code.USAGE, str(error)
        case LocalError():
            return Code.UNREACHABLE, str(error)
        case OSError() if error.strerror:
            where = f"{Path(error.filename)}: " if isinstance(error.filename, str) else ""
            return Code.FAILED, f"{where}{error.strerror}."
    from carrel.store.core.crash import write_report

    path = write_report(error)
    where = f"The report is in {path}" if path else "No report could be written"
    kind = type(error).__name__
    return Code.FAILED, f"something went wrong inside carrel ({kind}). {where}."
