"""Marked items by id, kept whole because their pages are evicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def toggle(marked: Mapping[str, T], id: str, thing: T | None) -> Mapping[str, T]:
    """Return the marks with one toggled. An unknown item (None) gets no mark."""
    if id in marked:
        return without(marked, id)
    return marked if thing is None else {**marked, id: thing}


def without(marked: Mapping[str, T], id: str) -> Mapping[str, T]:
    """Return the marks without one."""
    return {other: thing for other, thing in marked.items() if other != id}


def invert(marked: Mapping[str, T], things: Mapping[str, T]) -> Mapping[str, T]:
    """Return the marks with those of `things` toggled; the marks of other things stay."""
    elsewhere = {id: thing for id, thing in marked.items() if id not in things}
    return {**elsewhere, **{id: thing for id, thing in things.items() if id not in marked}}


def with_range(
    marked: Mapping[str, T], ids: Iterable[str], find: Callable[[str], T | None]
) -> Mapping[str, T]:
    """Return the marks with more of them. Unknown items get no mark."""
    found = {id: find(id) for id in ids}
    return {**marked, **{id: thing for id, thing in found.items() if thing is not None}}
