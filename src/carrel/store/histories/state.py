"""The state of the histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrel.store.core.problem import Problem


@dataclass(frozen=True, slots=True)
class HistoriesState:
    """What was typed in each list, the newest last, each text once."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    error: Problem | None = None
