"""The turns of a chat: a tree, because a question or an answer may have variants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Passage

TurnRole = Literal["user", "assistant", "tool"]
TurnStatus = Literal["writing", "done", "stopped", "failed", "lost", "cut"]
"""How an answer ended: "failed" at the service, "lost" with the connection, "cut" with the
process that it was written in."""

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif")

NOTHING = -1
"""The parent of the first turn."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment: a file of the service, or a document of a library."""

    kind: Literal["file", "document"]
    id: str
    name: str
    library_id: str | None = None

    @property
    def is_picture(self) -> bool:
        """Whether it is sent as a picture."""
        return self.name.lower().endswith(PICTURES)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said.

    Of a question: what is attached to it. Of an answer: the calls it asks for, the passages it
    was given, the agent's version, whether the agent `searches` libraries and the service said that
    it `searched` them, what the model was `thinking` before it answered and for how many seconds it
    `thought`, seconds until the first token, tokens a second, how many tokens the question
    with its history and the answer took, whether it was `cut` at its longest, the name of the
    `agent` where that may be another than the chat's, and why the service refused it. Of a tool:
    the call whose result it is.
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
        """Return whether it says the same as another, whenever and however fast."""
        return (self.role, self.text, self.calls, self.call_id) == (
            other.role,
            other.text,
            other.calls,
            other.call_id,
        )


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns in the order they were made, and the path through them that is shown and sent.

    `after` has for each turn the index of the one it follows. Turns that follow the same one are
    variants of each other. `last` is the index where the shown path ends. A `place` is a turn's
    place on that path, from 0.
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
        """Return turns that follow one another, without variants."""
        return cls(turns, tuple(range(NOTHING, len(turns) - 1)), len(turns) - 1)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the shown path."""
        return tuple(self.said[index] for index in self._path)

    def add(self, turn: Turn) -> Conversation:
        """Return the conversation with one more turn at the end of the shown path."""
        return Conversation((*self.said, turn), (*self.after, self.last), len(self.said))

    def joined(self, turns: Iterable[Turn]) -> Conversation:
        """Return the conversation with these turns as its shown path; those it lacks are added."""
        joined = replace(self, last=NOTHING)
        for turn in turns:
            variants = (at for at, one in enumerate(joined.after) if one == joined.last)
            at = next((at for at in variants if joined.said[at].says(turn)), None)
            joined = joined.add(turn) if at is None else replace(joined, last=at)
        return joined

    def with_turn(self, place: int, turn: Turn) -> Conversation:
        """Return the conversation with another turn in place of the one there."""
        at = self._path[place]
        return replace(self, said=(*self.said[:at], turn, *self.said[at + 1 :]))

    def before(self, place: int) -> Conversation:
        """Return the path cut before a place. A turn added then is a variant of the one there."""
        return replace(self, last=self._path[place - 1] if place else NOTHING)

    def variant(self, place: int) -> tuple[int, int]:
        """Return which of its variants the turn at a place is, from 1, and how many there are."""
        variants = self._variants(place)
        return variants.index(self._path[place]) + 1, len(variants)

    def choose(self, place: int, number: int) -> Conversation:
        """Put the variant of that number (from 1) on the path, and what was said last after it."""
        first = self._variants(place)[number - 1]
        following = (at for at in range(len(self.said) - 1, first, -1) if self._leads(first, at))
        return replace(self, last=next(following, first))

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

    def _leads(self, first: int, later: int) -> bool:
        # A turn always has a higher index than the one it follows.
        while later > first:
            later = self.after[later]
        return later == first


EMPTY = Conversation()
