"""Trials of drafts: a chat with a draft beside one with the active version."""

from typing import Self

from carrel.notebook.panels.compare import ComparePanel
from carrel.notebook.panels.core.base import Json
from carrel.store.agents.drafts import Draft
from carrel.store.comparison.service import ComparisonService
from carrel.store.comparison.state import Side
from carrel.store.store import Store


class Trial:
    """The chats of a draft and of its active version, in one panel. A new agent's draft stands
    alone.
    """

    def __init__(self, store: Store, draft: Draft, comparison: ComparisonService) -> None:
        self._draft = draft
        self.panel = ComparePanel(store, comparison)

    @classmethod
    async def begin(cls, store: Store, draft: Draft) -> Self:
        """Open the chats. Call it on the store's loop.

        Raises:
            ProblemError: the draft is incomplete, or the agent was deleted.
        """
        tried = Side(draft.agent_id or "", draft=draft.create())
        sides = [tried] if draft.agent_id is None else [Side(draft.agent_id), tried]
        comparison = store.another_comparison(saved=False)
        try:
            await comparison.begin(sides)
        except BaseException:
            store.close_service(comparison)
            raise
        return cls(store, draft, comparison)

    @property
    def draft(self) -> str:
        """The id of the tried draft."""
        return self._draft.id

    def view(self) -> Json:
        """Return the trial in the form that the Agent panel's view opens."""
        name = self._draft.name or "no name yet"
        beside = "" if self._draft.agent_id is None else " beside its active version"
        return {
            "draft": self._draft.id,
            "title": f"Draft of {name}{beside}",
            "panel": f"anywidget:{self.panel.model_id}",
        }

    def close(self) -> None:
        """Close the chats and their panel."""
        self.panel.close()
