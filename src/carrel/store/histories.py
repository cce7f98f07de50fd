"""Local input histories, without anything that looks like a key or a signed address."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from carrel.config.profiles import Profile
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.hiding import holds_secret
from carrel.store.core.problem import Problem
from carrel.system.atomic import write_private

FORMAT = 1
KEPT = 50
"""Number of texts kept in each history."""
LONGEST = 500
"""Length of the longest text that is kept, in characters."""


@dataclass(frozen=True, slots=True)
class HistoriesState:
    """The texts of each history, newest last, without duplicates."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    error: Problem | None = None


def load_histories(path: Path) -> Mapping[str, tuple[str, ...]]:
    """Load the histories; empty if the file is missing or unreadable."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            return {}
        return {str(name): tuple(map(str, texts))[-KEPT:] for name, texts in data["texts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def save_histories(path: Path, texts: Mapping[str, tuple[str, ...]]) -> None:
    """Write the histories to disk.

    Raises:
        OSError: the file cannot be written.
    """
    write_private(path, json.dumps({"format": FORMAT, "texts": texts}, ensure_ascii=False))


class HistoriesService(Service[HistoriesState]):
    """The histories of one profile."""

    def __init__(self, loop: OwnerLoop, state: Path, profile: Profile) -> None:
        self._path = state / "histories" / f"{quote(profile.storage_name, safe=' ')}.json"
        self._key = profile.api_key
        super().__init__(loop, HistoriesState(load_histories(self._path)))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a history, newest last."""
        return self.slice.value.texts.get(name, ())

    @instant
    def note(self, name: str, text: str) -> None:
        """Add a text, unless it is empty, too long or contains a secret."""
        text = text.strip()
        if not 0 < len(text) <= LONGEST or self._is_secret(text):
            return
        before = self.texts(name)
        if before[-1:] == (text,):
            return
        others = (each for each in before if each != text)
        self.slice.set(texts={**self.slice.value.texts, name: (*others, text)[-KEPT:]})
        self._save()

    def _is_secret(self, text: str) -> bool:
        return holds_secret(text) or (bool(self._key) and str(self._key) in text)

    @action(Policy.RENEW)
    async def _save(self) -> None:
        await asyncio.to_thread(save_histories, self._path, self.slice.value.texts)
