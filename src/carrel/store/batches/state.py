"""The batch jobs of the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.batches import BatchJob


@dataclass(frozen=True, slots=True)
class BatchesState:
    """The newest jobs, newest first; none where the service has no batch jobs."""

    jobs: tuple[BatchJob, ...] = ()
    error: Problem | None = None
