"""The journal of a demo: what it makes, on disk before it is made, so that a kill leaves nothing.

The journal of a demo that was killed is found by the next one, which removes what it lists.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from carrel.store.core.problem import Problem, ProblemError
from carrel.system.atomic import write_private
from carrel.system.locking import Locked, lock_file

TAKEN = Problem(
    "A demo is under way", "Another terminal or notebook plays one.", "End that one first."
)


class Record(BaseModel):
    """What a run of a demo made, by ids. What its `run` marks was made by it, too."""

    run: str
    agents: list[str] = Field(default_factory=list)
    libraries: list[str] = Field(default_factory=list)


class Journal:
    """The journal at a path."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def held(self) -> Iterator[Journal]:
        """Keep other demos away meanwhile.

        Raises:
            ProblemError: another demo is under way.
        """
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            lock = lock_file(self._path.with_suffix(".lock"))
        except Locked:
            raise ProblemError(TAKEN) from None
        with lock:
            yield self

    @property
    def record(self) -> Record | None:
        """What is to be removed; None if there is nothing."""
        try:
            return Record.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            problem = Problem(
                "The journal of the last demo cannot be read",
                str(self._path),
                "Remove the agents and libraries that it made, then this file.",
            )
            raise ProblemError(problem) from error

    def begin(self) -> Record:
        """Begin a run; everything that it makes bears the run's mark."""
        record = Record(run=uuid.uuid4().hex[:12])
        self.write(record)
        return record

    def write(self, record: Record) -> None:
        """Write what was made so far."""
        write_private(self._path, record.model_dump_json())

    def end(self) -> None:
        """End the run: everything is removed."""
        self._path.unlink(missing_ok=True)
