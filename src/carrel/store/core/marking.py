"""Marked items by id, kept whole because their pages are evicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def toggled(marked: Mapping[str, T], id: str, thing: T | None) -> Mapping[str, T]:
    """The marks with one toggled. An unknown item (None) gets no mark."""
    if id in marked:
        return without(marked, id)
    return marked if thing is None else {**marked, id: thing}


def without(marked: Mapping[str, T], id: str) -> Mapping[str, T]:
    """The marks without one."""
    return {other: thing for other, thing in marked.items() if other != id}
