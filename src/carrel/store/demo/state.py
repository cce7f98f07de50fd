"""The state of a demo that is played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

RECORDED = "⚑ Recorded answer"
LEFT_OUT = "The keys of this step are for the terminal."
AWAITS_KEY = "each key types"


def way_on(state: DemoState) -> str:
    """Return what to do about a step that failed."""
    way = "F8 shows the recorded answer" if state.offers else "F8 goes on without it"
    return f"{way} · F7 F8 tries again"


def place_words(state: DemoState) -> str:
    """Return how far the demo has come."""
    if state.ended:
        return f"The end · {state.count} steps"
    if state.phase == "ready":
        return f"{state.played} of {state.count} steps"
    return f"Step {state.played + 1} of {state.count}"


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
