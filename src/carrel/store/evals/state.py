"""The state of evals: the kept runs, the one under way, and the one that is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.store.evals.records import Run
    from carrel.store.evals.report import Report
    from carrel.store.evals.running import Progress


DEFAULT_FILE = Path("cases.yaml")
"""The set that cases are added to while none was used yet."""


@dataclass(frozen=True, slots=True)
class EvalsState:
    """`runs` are the kept ones, newest first; `progress` that of the one under way.

    `report` is of the run `shown`, beside `baseline` if there is one. `file` is the set that was
    run or added to last.
    """

    runs: tuple[Run, ...] = ()
    progress: Progress | None = None
    shown: str | None = None
    baseline: str | None = None
    report: Report | None = None
    file: Path | None = None
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None
