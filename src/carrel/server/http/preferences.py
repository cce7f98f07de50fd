"""The preferences of a caller: the header `Prefer` (RFC 7240)."""

from starlette.requests import Request

MOST_WAITED = 86_400.0
"""Seconds. The longest wait that a caller can ask for."""


def preferences(request: Request) -> dict[str, str]:
    """Return the preferences by their names in small letters; a value may be empty."""
    found = {}
    for preference in ",".join(request.headers.getlist("prefer")).split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        found[name.strip().lower()] = value.strip().strip('"')
    return found


def prefers_existing(request: Request) -> bool:
    """Return whether the caller prefers an existing item of that name to a new one.

    This is an extension.
    """
    return "if-absent" in preferences(request)


def seconds_waited(request: Request, usual: float) -> float:
    """Return the seconds of the preference `wait`, or `usual` without it."""
    wait = preferences(request).get("wait", "")
    return min(float(wait), MOST_WAITED) if wait.isascii() and wait.isdigit() else usual
