"""What a chat shows: the open session and the list of the saved ones."""

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

    `version` is who would answer now, `pinned` the version that was chosen (None: whichever is
    active), `draft` whether it is none that is saved. `phase` tells what is waited for: the
    connection, the files that the question names ("attaching"), the first word, the end of the
    model's thinking, the rest of the answer, or a function of this program ("calling"). `step` is
    the service's step before the first word, where it tells. `asked` counts the answers since the
    question, from 1: tools may answer calls in between. `started` is when the question was sent
    (seconds since 1970), `context_length` how many tokens the model can take. `attached` goes with
    the next question, which takes the place of the question at `editing` on the path. `history` are
    the questions asked so far in any session, the newest last; `sessions` those that hold `search`.
    `comparison` names the chats beside this one. `alias` stands for the agent while its name is
    hidden; the answers before the last question are hidden with it.
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
        """What is shown and sent on, oldest first."""
        return self.conversation.turns
