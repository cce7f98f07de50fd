"""Starters: agent definitions that ship with the package, as templates for new agents."""

from dataclasses import dataclass
from pathlib import Path

from carrel.store.agents.definitions import Definition, draft_of, read_definitions
from carrel.store.agents.drafts import Draft

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Starter:
    """A template for a new agent. `path` is its file, whose comments explain it."""

    definition: Definition
    path: Path

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def about(self) -> str:
        """The starter's purpose in one line."""
        return self.definition.description or ""

    def draft(self, model: str = "") -> Draft:
        """Return a draft of a new agent from the starter, without libraries."""
        return draft_of(self.definition, model)


def starters() -> tuple[Starter, ...]:
    """Return the starters ordered by name."""
    return tuple(
        Starter(read_definitions([path])[0].definition, path)
        for path in sorted(_FOLDER.glob("*.yaml"))
    )
