"""The state of model servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.local import ModelServer as ModelServer


@dataclass(frozen=True, slots=True)
class ModelsState:
    """The model servers that answer here."""

    found: tuple[ModelServer, ...] = ()
    looked: bool = False
    error: Problem | None = None
