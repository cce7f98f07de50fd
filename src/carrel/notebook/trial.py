"""A trial of a draft: a chat with it beside one with the active version."""

from typing import Self

from carrel.notebook.compare import ComparePanel
from carrel.notebook.panel import Json, finish
from carrel.store.agents.drafts import Draft
from carrel.store.chat.service import ChatService
from carrel.store.store import Store


class Trial:
    """The chats of a draft and of its active version, in one panel. A new agent's draft stands
    alone.
    """

    def __init__(self, store: Store, draft: Draft, chats: list[ChatService]) -> None:
        self._draft = draft
        self.panel = ComparePanel(store, chats)

    @classmethod
    async def begin(cls, store: Store, draft: Draft) -> Self:
        """Opens the chats. Call it on the store's loop.

        Raises:
            ProblemError: the draft is incomplete, or the agent was deleted.
        """
        fields = draft.create()
        chats: list[ChatService] = []
        try:
            if draft.agent_id is not None:
                chats.append(store.another_chat(saved=False))
                await finish(chats[-1].new(draft.agent_id))
            chats.append(store.another_chat(saved=False))
            await finish(chats[-1].try_draft(fields, draft.agent_id or ""))
        except BaseException:
            for chat in chats:
                store.let_go(chat)
            raise
        return cls(store, draft, chats)

    @property
    def draft(self) -> str:
        """The id of the draft on trial."""
        return self._draft.id

    def view(self) -> Json:
        """The trial in the form that the Agent panel's view opens."""
        name = self._draft.name or "no name yet"
        beside = "" if self._draft.agent_id is None else " beside its active version"
        return {
            "draft": self._draft.id,
            "title": f"Draft of {name}{beside}",
            "panel": f"anywidget:{self.panel.model_id}",
        }

    def close(self) -> None:
        """Ends the chats and their panel."""
        self.panel.close()
