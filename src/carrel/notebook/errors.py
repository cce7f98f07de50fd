"""Errors of calls in a cell."""

from carrel.store.core.problem import Problem


class BenchError(Exception):
    """A call that failed: the cause and the next step."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        # A notebook shows these lines instead of our own stack.
        return [f"{type(self).__name__}: {self}"]
