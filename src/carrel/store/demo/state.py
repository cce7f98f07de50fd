"""The state of a demo that is played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

Phase = Literal["ready", "playing", "failed", "recorded"]


@dataclass(frozen=True, slots=True)
class DemoState:
    """How far a demo has come.

    `played` counts the steps that are done. `caption` is shown below; `trouble` is why the step
    after them failed, `offers` whether it has a recorded answer, `recorded` that answer while it
    is shown. `left_out` says that the last step was left out, as this face has no keys for it.
    """

    title: str
    count: int
    played: int = 0
    phase: Phase = "ready"
    paused: bool = False
    caption: str = ""
    trouble: str = ""
    offers: bool = False
    recorded: str = ""
    left_out: bool = False
    error: Problem | None = None

    @property
    def ended(self) -> bool:
        """Whether every step is done."""
        return self.played == self.count and self.phase == "ready"
