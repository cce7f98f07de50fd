"""The state of the search by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

FoundKind = Literal["file", "document", "agent", "version", "chat"]
KINDS: tuple[FoundKind, ...] = ("file", "document", "agent", "version", "chat")


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A result. `parent` is a document's library or a version's agent; `version` its number."""

    kind: FoundKind
    id: str
    name: str
    details: str = ""
    parent: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class FinderState:
    """The results for `text` so far, ordered by kind."""

    text: str = ""
    found: tuple[FoundItem, ...] = ()
    searching: bool = False
    error: Problem | None = None
