"""Items as users name them: by an id or a name."""

from __future__ import annotations

from collections.abc import Mapping


def ids_of(wanted: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids that are meant: an id itself, else those of all items of this name.

    `names` has the items' names by their ids. An id wins over a name that is spelled like it.
    """
    if wanted in names:
        return (wanted,)
    return tuple(id for id, name in names.items() if name == wanted)
