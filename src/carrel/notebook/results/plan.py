"""The differences between agents and their files, as an object with a display in a cell."""

from html import escape

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import check_open, wait_for
from carrel.store.agents.plan import Plan, done_words, overwriting_words, plan_lines
from carrel.store.core.formatting import one_line
from carrel.store.store import Store


class AgentPlan:
    """The differences between agents and their files, in `data`. Changes nothing by itself."""

    def __init__(self, data: Plan, store: Store) -> None:
        self.data = data
        self._store = store

    @property
    def pending(self) -> tuple[str, ...]:
        """The names of agents that `apply` would change."""
        return tuple(step.name for step in self.data.pending)

    @property
    def drifted(self) -> tuple[str, ...]:
        """The pending agents that were changed at the service, unknown to the files."""
        return tuple(step.name for step in self.data.drifted)

    def apply(self, *, overwrite: bool = False, timeout: float | None = None) -> list[str]:
        """Carry out exactly the planned changes; return the outcome of each agent in words.

        Args:
            overwrite: overwrites changes made at the service.
            timeout: seconds before the call is stopped.

        Raises:
            BenchError: a change at the service would be overwritten, or was made after the plan.
        """
        check_open(self._store)
        if self.drifted and not overwrite:
            title = f"Nothing was sent: {overwriting_words(self.data)}"
            advice = "Look at the plan, then give overwrite=True to replace what is there."
            raise BenchError(title, "", advice)
        steps = wait_for(self._store, self._store.agents.apply(self.data), timeout)
        return [f"{one_line(step.name)}: {done_words(step)}" for step in steps]

    def __repr__(self) -> str:
        return "\n".join(plan_lines(self.data))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"
