"""Chat sessions on disk: one JSON file each, a folder a profile."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from carrel.store.chat.compared import Comparison
from carrel.store.chat.conversation import EMPTY, Conversation, Turn
from carrel.store.chat.parameters import AGENTS_OWN, Parameters
from carrel.store.trash.formatting import LOCAL_DAYS
from carrel.store.trash.state import DeletedItem
from carrel.system.atomic import write_private

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from carrel.wire.generation.agents import AgentCreate

FORMAT = 1
TITLE_LENGTH = 60
"""Letters of a session's title."""


@dataclass(frozen=True, slots=True)
class ChatSession:
    """A chat with one agent; `updated` in seconds since 1970.

    `pinned` is the chosen version, or None for the active one; `draft` an unsaved agent that is
    asked. `comparison` names the compared chats.
    """

    id: str
    agent_id: str
    agent_name: str
    updated: float
    conversation: Conversation = EMPTY
    pinned: int | None = None
    parameters: Parameters = AGENTS_OWN
    draft: AgentCreate | None = None
    comparison: Comparison | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The ids of the compared chats."""
        return self.comparison.beside if self.comparison else ()

    @property
    def title(self) -> str:
        """The first question in one line."""
        turns = self.conversation.turns
        first = " ".join(turns[0].text.split()) if turns else ""
        return first if len(first) <= TITLE_LENGTH else first[: TITLE_LENGTH - 1] + "…"

    def summary(self) -> SessionSummary:
        """Return the session's entry in the list."""
        turns = len(self.conversation.turns)
        return SessionSummary(
            self.id, self.title, self.agent_id, self.agent_name, self.updated, turns, self.beside
        )

    def matches(self, text: str) -> bool:
        """Return whether a turn or the agent's name contains a text, ignoring case."""
        wanted = text.casefold()
        words = (self.agent_name, *(turn.text for turn in self.conversation.said))
        return any(wanted in word.casefold() for word in words)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A saved session in a list; `beside` has the ids of the sessions compared with it."""

    id: str
    title: str
    agent_id: str
    agent_name: str
    updated: float
    turns: int
    beside: tuple[str, ...] = ()

    def matches(self, text: str) -> bool:
        """Return whether the title or the agent's name contains a text, ignoring case."""
        return text.casefold() in f"{self.title}\n{self.agent_name}".casefold()


class SavedSessions:
    """The local sessions of one profile. Safe to use from several threads.

    Writes may arrive out of order: a deleted session is never saved again, and an older state never
    replaces a newer one.
    """

    def __init__(self, state: Path, profile: str) -> None:
        self._folder = state / "chats" / quote(profile, safe=" ")
        self._lock = threading.Lock()
        self._saved: dict[str, float] = {}
        self._deleted: set[str] = set()
        self.changes = 0
        """Number of saves and deletions so far."""

    def all(self) -> tuple[ChatSession, ...]:
        """Return all sessions, newest first. Unreadable files are skipped."""
        return tuple(sorted(self._sessions(), key=lambda session: session.updated, reverse=True))

    def load(self, session_id: str) -> ChatSession:
        """Return one session.

        Raises:
            OSError: there is no such file.
            ValueError: the file is not a session.
        """
        return _from_json(json.loads(self._path(session_id).read_text(encoding="utf-8")))

    def save(self, session: ChatSession) -> bool:
        """Write a session atomically, readable only by its owner.

        Returns False if it was deleted, or a newer state saved, meanwhile.
        """
        text = json.dumps(to_json(session), ensure_ascii=False)
        with self._lock:
            newest = self._saved.get(session.id, session.updated)
            if session.id in self._deleted or session.updated < newest:
                return False
            write_private(self._path(session.id), text)
            self._saved[session.id] = session.updated
            self.changes += 1
            return True

    def delete(self, session_id: str) -> None:
        """Move a session to the trash for LOCAL_DAYS; a missing one counts as deleted."""
        with self._lock:
            self._deleted.add(session_id)
            path, aside = self._path(session_id), self._trash_path(session_id)
            with suppress(FileNotFoundError):
                os.utime(path)  # its days in the trash count from now
                aside.parent.mkdir(mode=0o700, exist_ok=True)
                path.replace(aside)
            self.changes += 1

    def forget(self, session_id: str) -> None:
        """Remove a session for good, deleted or not."""
        with self._lock:
            self._deleted.add(session_id)
            self._path(session_id).unlink(missing_ok=True)
            self._trash_path(session_id).unlink(missing_ok=True)
            self.changes += 1

    def restore(self, session_id: str) -> None:
        """Put a deleted session back.

        Raises:
            OSError: the session is no longer in the trash.
        """
        with self._lock:
            self._trash_path(session_id).replace(self._path(session_id))
            self._deleted.discard(session_id)
            self.changes += 1

    def deleted(self) -> tuple[DeletedItem, ...]:
        """Return the sessions in the trash."""
        found = []
        for path in self._trash_path("").parent.glob("*.json"):
            with suppress(OSError, ValueError):
                then = path.stat().st_mtime
                session = _from_json(json.loads(path.read_text(encoding="utf-8")))
                until = then + LOCAL_DAYS * 86400
                item = DeletedItem(
                    session.id, "conversation", session.title, then, until, session.beside
                )
                found.append(item)
        return tuple(found)

    def remove_old(self) -> None:
        """Remove the sessions that were deleted more than LOCAL_DAYS ago."""
        oldest = time.time() - LOCAL_DAYS * 86400
        for path in self._trash_path("").parent.glob("*.json"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{quote(session_id, safe='')}.json"

    def _trash_path(self, session_id: str) -> Path:
        return self._folder / "deleted" / self._path(session_id).name

    def _sessions(self) -> Iterator[ChatSession]:
        for path in self._folder.glob("*.json"):
            try:
                yield _from_json(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError):
                continue


def to_json(session: ChatSession) -> dict[str, Any]:
    """Return a session as JSON data with all its variants."""
    conversation = session.conversation
    said = _turns().dump_python(conversation.said, mode="json")
    return {
        "format": FORMAT,
        "id": session.id,
        "agent_id": session.agent_id,
        "agent_name": session.agent_name,
        "pinned": session.pinned,
        "updated": session.updated,
        "parameters": asdict(session.parameters),
        "draft": session.draft.body() if session.draft is not None else None,
        "comparison": asdict(session.comparison) if session.comparison is not None else None,
        "last": conversation.last,
        "turns": [
            {**turn, "after": after} for turn, after in zip(said, conversation.after, strict=True)
        ],
    }


def _from_json(data: Any) -> ChatSession:
    from carrel.wire.generation.agents import AgentCreate

    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}")
        turns = data["turns"]
        # Without variants, each turn's parent is the turn before.
        after = tuple(turn.get("after", number - 1) for number, turn in enumerate(turns))
        last = data.get("last", len(turns) - 1)
        if any(not -1 <= one < number for number, one in enumerate(after)):
            raise ValueError("a turn follows a later one")
        if not -1 <= last < len(turns):
            raise ValueError("the last turn is not there")
        said = (
            # Its process ended while it was written.
            replace(turn, status="cut") if turn.status == "writing" else turn
            for turn in _turns().validate_python(turns)
        )
        draft = data.get("draft")
        return ChatSession(
            data["id"],
            data["agent_id"],
            data["agent_name"],
            float(data["updated"]),
            Conversation(tuple(said), after, last),
            data.get("pinned"),
            Parameters.of(data.get("parameters", {})),
            None if draft is None else AgentCreate.model_validate(draft),
            Comparison.of(compared) if (compared := data.get("comparison")) else None,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a session: {error}") from error


@cache
def _turns() -> TypeAdapter[tuple[Turn, ...]]:
    from pydantic import TypeAdapter

    # A turn's fields name this type.
    from carrel.wire.generation.completions import Passage  # noqa: F401

    return TypeAdapter(tuple[Turn, ...])
