"""What goes wrong in a cell, in words."""

from carrel.store.core.problem import Problem


class BenchError(Exception):
    """A call that failed: what happened and what to do next."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        # A notebook shows these lines instead of a stack of our own calls.
        return [f"{type(self).__name__}: {self}"]
