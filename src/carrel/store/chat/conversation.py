"""The turns of a chat as a tree, because questions and answers may have variants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Passage

TurnRole = Literal["user", "assistant", "tool"]
TurnStatus = Literal["writing", "done", "stopped", "failed", "lost", "cut"]
"""Status of an answer: "failed" at the service, "lost" with the connection, "cut" with its process.
"""

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif")

NOTHING = -1
"""Parent index of the first turn."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment: a file of the service, or a document of a library."""

    kind: Literal["file", "document"]
    id: str
    name: str
    library_id: str | None = None

    @property
    def is_picture(self) -> bool:
        """Whether the attachment is sent as a picture."""
        return self.name.lower().endswith(PICTURES)


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, an answer or a tool's result.

    Of a question: its attachments. Of an answer: its function calls, the passages given to it, the
    agent's version, whether the agent `searches` libraries and the service reported that it
    `searched`, the model's `thinking` and its seconds in `thought`, seconds until the first token,
    tokens a second, tokens of the prompt and of the answer, whether it was `cut` at the length
    limit, the name of the `agent` if that may differ from the chat's, and the reason of a refusal.
    Of a tool: the call that it answers.
    """

    role: TurnRole
    text: str
    status: TurnStatus = "done"
    sources: tuple[Passage, ...] = ()
    version: int | None = None
    first_token: float | None = None
    rate: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cut: bool = False
    searches: bool = False
    searched: bool = False
    calls: tuple[AgentCall, ...] = ()
    call_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    agent: str = ""
    thinking: str = ""
    thought: float | None = None
    refusal: str = ""

    def says(self, other: Turn) -> bool:
        """Return whether two turns have equal content, whatever their times and speeds."""
        return (self.role, self.text, self.calls, self.call_id) == (
            other.role,
            other.text,
            other.calls,
            other.call_id,
        )


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns in order of creation, and the path through them that is shown and sent.

    `after` has each turn's parent index. Turns with the same parent are variants of each other.
    `last` is the index of the path's last turn. A `place` is a turn's position on the path, from 0.
    """

    said: tuple[Turn, ...] = ()
    after: tuple[int, ...] = ()
    last: int = NOTHING
    _path: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        path = []
        at = self.last
        while at != NOTHING:
            path.append(at)
            at = self.after[at]
        object.__setattr__(self, "_path", tuple(reversed(path)))

    @classmethod
    def of(cls, *turns: Turn) -> Conversation:
        """Return a conversation of consecutive turns, without variants."""
        return cls(turns, tuple(range(NOTHING, len(turns) - 1)), len(turns) - 1)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the shown path."""
        return tuple(self.said[index] for index in self._path)

    def add(self, turn: Turn) -> Conversation:
        """Return the conversation with a turn added at the end of the path."""
        return Conversation((*self.said, turn), (*self.after, self.last), len(self.said))

    def with_path(self, turns: Iterable[Turn]) -> Conversation:
        """Return the conversation with these turns as its path; missing ones are added."""
        joined = replace(self, last=NOTHING)
        for turn in turns:
            variants = (at for at, one in enumerate(joined.after) if one == joined.last)
            at = next((at for at in variants if joined.said[at].says(turn)), None)
            joined = joined.add(turn) if at is None else replace(joined, last=at)
        return joined

    def with_turn(self, place: int, turn: Turn) -> Conversation:
        """Return the conversation with the turn at a place replaced."""
        at = self._path[place]
        return replace(self, said=(*self.said[:at], turn, *self.said[at + 1 :]))

    def cut_before(self, place: int) -> Conversation:
        """Return the conversation with its path cut before a place. A turn added then becomes a
        variant."""
        return replace(self, last=self._path[place - 1] if place else NOTHING)

    def variant(self, place: int) -> tuple[int, int]:
        """Return the number of the variant at a place, from 1, and the number of its variants."""
        variants = self._variants(place)
        return variants.index(self._path[place]) + 1, len(variants)

    def choose(self, place: int, number: int) -> Conversation:
        """Put a variant of a place (from 1) on the path, with its latest continuation."""
        return self._show(self._variants(place)[number - 1])

    def find(self, index: int) -> tuple[Conversation, int]:
        """Return the conversation with a turn of `said` on its path, and the turn's place there."""
        found = self if index in self._path else self._show(index)
        return found, found._path.index(index)

    def _show(self, index: int) -> Conversation:
        """Put a turn on the path, with its latest continuation."""
        after = (
            at for at in range(len(self.said) - 1, index, -1) if self._is_descendant(at, index)
        )
        return replace(self, last=next(after, index))

    def open_calls(self) -> tuple[AgentCall, ...]:
        """Return the calls at the end of the path that have no result yet."""
        results = set()
        for turn in reversed(self.turns):
            if turn.role != "tool":
                calls = turn.calls if turn.status == "done" else ()
                return tuple(call for call in calls if call.id not in results)
            results.add(turn.call_id)
        return ()

    def _variants(self, place: int) -> list[int]:
        before = self.after[self._path[place]]
        return [index for index, one in enumerate(self.after) if one == before]

    def _is_descendant(self, at: int, of: int) -> bool:
        # A turn always has a higher index than its parent.
        while at > of:
            at = self.after[at]
        return at == of


EMPTY = Conversation()
