"""The OCR batch jobs of this machine whose pages were not fetched yet."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from urllib.parse import quote

from carrel.system.atomic import write_private


class SubmittedJobs:
    """Ids of one profile's jobs, on disk. May be used from several threads at once."""

    def __init__(self, state: Path, profile: str) -> None:
        self._path = state / "batches" / f"{quote(profile, safe=' ')}.json"
        self._lock = threading.Lock()

    def all(self) -> frozenset[str]:
        """Return the ids."""
        return frozenset(self._read())

    def add(self, job_id: str) -> None:
        """Note a job.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            self._write([*self._read(), job_id])

    def remove(self, job_id: str) -> None:
        """Forget a job, whose pages are here or never will be.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            self._write([one for one in self._read() if one != job_id])

    def _read(self) -> list[str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return [str(one) for one in found] if isinstance(found, list) else []

    def _write(self, ids: list[str]) -> None:
        write_private(self._path, json.dumps(ids))
