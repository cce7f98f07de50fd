"""Items that users name by id or name: one set of rules, and its sentences."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from carrel.store.core.problem import Problem, ProblemError

SHOWN = 10
"""Most names that an error lists."""


def find_id(kind: str, wanted: str, names: Mapping[str, str]) -> str | None:
    """Return the wanted id: the text itself if it is one, else that of the item with this name.

    `names` maps ids to names. None: nothing has this id or name.

    Raises:
        ProblemError: several items have this name.
    """
    if wanted in names:
        return wanted
    ids = [id for id, name in names.items() if name == wanted]
    if len(ids) > 1:
        title = f"More than one {kind} is named “{wanted}”"
        raise ProblemError(title, advice=f"Give an id: {', '.join(ids)}.")
    return ids[0] if ids else None


def require_id(kind: str, wanted: str, names: Mapping[str, str]) -> str:
    """Return the wanted id as `find_id` does.

    Raises:
        ProblemError: nothing, or more than one item, has this name.
    """
    id = find_id(kind, wanted, names)
    if id is None:
        raise ProblemError(missing_problem(kind, wanted, names.values()))
    return id


def missing_problem(kind: str, wanted: str, names: Iterable[str]) -> Problem:
    """Return the problem of a name that no item has, with the known names."""
    return Problem(f"There is no {kind} “{wanted}”", available_words(wanted, names))


def available_words(wanted: str, names: Iterable[str]) -> str:
    """Return the known names, the nearest to a missing one first."""
    known = [*names]
    if not known:
        return "There are none yet."
    listed = ", ".join(f"“{name}”" for name in known[:SHOWN])
    more = len(known) - SHOWN
    there = f"Available: {listed}{f' and {more} more' if more > 0 else ''}."
    return f"{did_you_mean(wanted, known)}{there}"


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """Return `Did you mean “lease.txt”? `, or an empty string if no name is near."""
    near = get_close_matches(wanted, [*names], n=1)
    return f"Did you mean “{near[0]}”? " if near else ""
