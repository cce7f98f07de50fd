"""Base class of the areas' services, which talk to the profile's service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from carrel.store.core.actions.action import Service
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import S
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.session.service import SessionService

READ_ONLY = Problem(
    "Read-only profile",
    "Changes are off.",
    "Allow changes in the command palette turns them on.",
)


class Area(Service[S]):
    """A service whose actions ask the session for the client."""

    def __init__(self, loop: OwnerLoop, state: S, session: SessionService) -> None:
        super().__init__(loop, state)
        self._session = session
        self._loads = 0

    def _check_allowed(self) -> None:
        if self._session.slice.value.read_only:
            raise ProblemError(READ_ONLY)

    def _failed(self, error: Exception) -> Problem:
        problem = super()._failed(error)
        if problem.lost:
            self._session.check_connection()
        return problem

    def service_is_back(self) -> None:
        """Clear an error caused by the lost service."""
        error: Problem | None = getattr(self.slice.value, "error", None)
        if error is not None and error.lost:
            self.slice.set(error=None)

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Set `loading` in the slice while the block runs."""
        self._loads += 1
        self.slice.set(loading=True, error=None)
        try:
            yield
        finally:
            self._loads -= 1
            self.slice.set(loading=self._loads > 0)
