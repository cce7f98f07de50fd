"""Resolution of items that users name by id or name."""

from __future__ import annotations

from collections.abc import Mapping


def ids_of(wanted: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the wanted ids: the id itself, else the ids of all items with that name.

    `names` maps ids to names. An id wins over a name with the same spelling.
    """
    if wanted in names:
        return (wanted,)
    return tuple(id for id, name in names.items() if name == wanted)
