"""The state of a running demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

RECORDED = "⚑ Recorded answer"
LEFT_OUT = "This step's keys work in the terminal only."
AWAITS_KEY = "each key types"


def way_on(state: DemoState) -> str:
    """Return the choices after a failed step, in words."""
    way = "F8 shows the recorded answer" if state.offers else "F8 goes on without it"
    return f"{way} · F7, then F8 tries again"


def place_words(state: DemoState) -> str:
    """Return the demo's progress in words."""
    if state.ended:
        return f"The end · {state.count} steps"
    if state.phase == "ready":
        return f"{state.played} of {state.count} steps"
    return f"Step {state.played + 1} of {state.count}"


Phase = Literal["ready", "playing", "failed", "recorded"]


@dataclass(frozen=True, slots=True)
class DemoState:
    """The progress of a demo.

    `played` counts finished steps. `caption` is shown at the bottom; `trouble` is the failure of
    the next step, `offers` whether that has a recorded answer, `recorded` the answer while it is
    shown. `left_out` means that the last step was skipped, because this face has no keys.
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
