"""The state of the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.chat.conversation import Turn
from carrel.store.core.problem import Problem

StepStatus = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class SampleStep:
    """One step of the sample: its action, its progress and its result."""

    words: str
    status: StepStatus = "waiting"
    result: str = ""


STEPS = (
    SampleStep("Upload the sample, a guide of two pages"),
    SampleStep("Read its pages"),
    SampleStep("Put it into a library, to be searched"),
    SampleStep("Ask an agent that searches the library"),
)


@dataclass(frozen=True, slots=True)
class SampleState:
    """The steps, and the answer with its source once there is one."""

    steps: tuple[SampleStep, ...] = STEPS
    answer: Turn | None = None
    running: bool = False
    error: Problem | None = None

    @property
    def done(self) -> bool:
        """Whether the sample was played to its end."""
        return self.answer is not None and not self.running
