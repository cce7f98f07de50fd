"""The state of a chat: the open session and the list of saved ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.chat.compared import Comparison
from carrel.store.chat.conversation import EMPTY, Attachment, Conversation, Turn
from carrel.store.chat.parameters import AGENTS_OWN, Parameters
from carrel.store.chat.sessions.saved import SessionSummary
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Progress

Phase = Literal["idle", "connecting", "attaching", "waiting", "thinking", "writing", "calling"]


@dataclass(frozen=True, slots=True)
class ChatState:
    """The open session.

    `version` is the version that would answer now, `pinned` the chosen version (None for the active
    one), `draft` whether the agent is unsaved. `phase` is the current wait: for the connection, the
    files that the question names ("attaching"), the first word, the end of the model's thinking,
    the rest of the answer, or a function of this program ("calling"). `step` is the service's
    progress before the first word, if it reports any. `asked` counts the answers since the
    question, from 1: tools may answer calls in between. `started` is the time of the question
    (seconds since 1970), `context_length` the model's limit in tokens. `attached` goes with the
    next question, which replaces the question at `editing` on the path. `history` holds the
    questions of all sessions, newest last; `sessions` the saved sessions that match `search`.
    `comparison` names the compared chats. `found` is the place of the turn that a search found, and
    the number of this search. `alias` replaces the agent's name while it is hidden, and
    hides the answers before the last question.
    """

    session_id: str | None = None
    agent_id: str | None = None
    agent_name: str = ""
    model: str | None = None
    version: int | None = None
    versions: tuple[int, ...] = ()
    pinned: int | None = None
    draft: bool = False
    parameters: Parameters = AGENTS_OWN
    comparison: Comparison | None = None
    found: tuple[int, int] | None = None
    alias: str = ""
    conversation: Conversation = EMPTY
    attached: tuple[Attachment, ...] = ()
    uploading: int = 0
    editing: int | None = None
    phase: Phase = "idle"
    step: Progress | None = None
    asked: int = 0
    started: float | None = None
    sessions: tuple[SessionSummary, ...] = ()
    search: str = ""
    history: tuple[str, ...] = ()
    context_length: int | None = None
    loading: bool = False
    error: Problem | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that are shown and sent, oldest first."""
        return self.conversation.turns
