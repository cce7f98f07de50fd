"""Chat sessions on disk: one JSON file each, a folder a profile."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

if TYPE_CHECKING:
    from carrel.wire.completions import Passage

FORMAT = 1
TITLE_LENGTH = 60

TurnStatus = Literal["writing", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said.

    Of an answer: the passages it was given, the agent's version, seconds until the first token,
    tokens a second, and how many tokens the question with its history and the answer took.
    """

    role: Literal["user", "assistant"]
    text: str
    status: TurnStatus = "done"
    sources: tuple[Passage, ...] = ()
    version: int | None = None
    first_token: float | None = None
    rate: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A chat with one agent; `updated` in seconds since 1970."""

    id: str
    agent_id: str
    agent_name: str
    updated: float
    turns: tuple[Turn, ...]

    @property
    def title(self) -> str:
        """Its first question, in one line."""
        first = " ".join(self.turns[0].text.split()) if self.turns else ""
        return first if len(first) <= TITLE_LENGTH else first[: TITLE_LENGTH - 1] + "…"

    def summary(self) -> SessionSummary:
        """Itself in a list."""
        return SessionSummary(
            self.id, self.title, self.agent_id, self.agent_name, self.updated, len(self.turns)
        )


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A saved session in a list."""

    id: str
    title: str
    agent_id: str
    agent_name: str
    updated: float
    turns: int


class SavedSessions:
    """The sessions of one profile."""

    def __init__(self, state: Path, profile: str) -> None:
        self._folder = state / "chats" / quote(profile, safe=" ")

    def summaries(self) -> tuple[SessionSummary, ...]:
        """All sessions, the newest first. Files that cannot be read are left out."""
        found = sorted(self._sessions(), key=lambda session: session.updated, reverse=True)
        return tuple(session.summary() for session in found)

    def load(self, session_id: str) -> Session:
        """One session.

        Raises:
            OSError: there is no such file.
            ValueError: the file is not a session.
        """
        return _from_json(json.loads(self._path(session_id).read_text(encoding="utf-8")))

    def save(self, session: Session) -> None:
        """Writes a session whole or not at all, readable by its owner only."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".saving-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(_to_json(session), file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path(session.id))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def delete(self, session_id: str) -> None:
        """Removes a session; one that is gone already counts as removed."""
        self._path(session_id).unlink(missing_ok=True)

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{quote(session_id, safe='')}.json"

    def _sessions(self) -> Iterator[Session]:
        for path in self._folder.glob("*.json"):
            try:
                yield _from_json(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError):
                continue


def _to_json(session: Session) -> dict[str, Any]:
    turns = []
    for turn in session.turns:
        fields = {name: getattr(turn, name) for name in Turn.__slots__}
        fields["sources"] = [source.model_dump(mode="json") for source in turn.sources]
        turns.append(fields)
    return {"format": FORMAT, **asdict(session), "turns": turns}


def _from_json(data: Any) -> Session:
    from carrel.wire.completions import Passage

    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}")
        turns = tuple(
            Turn(**{**turn, "sources": tuple(map(Passage.model_validate, turn["sources"]))})
            for turn in data["turns"]
        )
        return Session(
            data["id"], data["agent_id"], data["agent_name"], float(data["updated"]), turns
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a session: {error}") from None
