"""Findings about the parts of a server, and their words."""

import errno
import getpass
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

State = Literal["ok", "warning", "failed"]

ANSWER_SECONDS = 10
"""Patience with an address."""
_SKEW_SECONDS, _MOST_SKEW_SECONDS = 5, 60
"""Object stores refuse signatures that are 15 minutes off; leases and expiry feel less."""


@dataclass(frozen=True)
class Finding:
    """The state of a part, in words, and what to do if it is not well."""

    part: str
    state: State
    said: str
    advice: str = ""


def ok(part: str, said: str) -> Finding:
    """Report a part that is well."""
    return Finding(part, "ok", said)


def warning(part: str, said: str, advice: str) -> Finding:
    """Report a part that works but needs attention."""
    return Finding(part, "warning", said, advice)


def failure(part: str, said: str, advice: str) -> Finding:
    """Report a part that does not work."""
    return Finding(part, "failed", said, advice)


def clock_of(what: str, skew: float) -> Finding:
    """Tell how well a clock that is `skew` seconds ahead agrees with this machine's."""
    part, off = "clock", abs(skew)
    if off < _SKEW_SECONDS:
        return ok(part, f"in step with {what}")
    said = f"{what} is {off:,.0f} s {'ahead of' if skew > 0 else 'behind'} this machine"
    advice = "Set both clocks by NTP: signatures and expiry depend on them."
    return (failure if off > _MOST_SKEW_SECONDS else warning)(part, said, advice)


def advice_to_write(error: OSError, path: Path) -> str:
    """Return advice for a folder that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Make room on its disk; deletes still work there."
    return f"Give it to the server's user: chown -R {getpass.getuser()} {path}"


def reason_of(error: BaseException) -> str:
    """Return an error's first line, or its kind if it says nothing."""
    words = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return words or type(error).__name__
