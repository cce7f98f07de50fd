"""The state of evals: the stored runs, the current one, and the shown one."""

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
"""Default set for new cases until one was used."""


@dataclass(frozen=True, slots=True)
class EvalsState:
    """`runs` are the stored ones, newest first; `progress` is the current run's.

    `report` is of the run `shown`, compared with `baseline` if there is one. `file` is the set used
    last.
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
