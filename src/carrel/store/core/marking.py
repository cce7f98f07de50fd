"""Marked items by id, stored whole because their pages may be evicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def toggle(marked: Mapping[str, T], id: str, thing: T | None) -> Mapping[str, T]:
    """Toggle the mark of an item. An unknown item (None) gets no mark."""
    if id in marked:
        return without(marked, id)
    return marked if thing is None else {**marked, id: thing}


def without(marked: Mapping[str, T], id: str) -> Mapping[str, T]:
    """Remove the mark of an item."""
    return {other: thing for other, thing in marked.items() if other != id}


def invert(marked: Mapping[str, T], things: Mapping[str, T]) -> Mapping[str, T]:
    """Toggle the marks of all `things`; other marks stay."""
    elsewhere = {id: thing for id, thing in marked.items() if id not in things}
    return {**elsewhere, **{id: thing for id, thing in things.items() if id not in marked}}


def with_range(
    marked: Mapping[str, T], ids: Iterable[str], find: Callable[[str], T | None]
) -> Mapping[str, T]:
    """Mark the items of a range of ids. Unknown items get no mark."""
    found = {id: find(id) for id in ids}
    return {**marked, **{id: thing for id, thing in found.items() if thing is not None}}
