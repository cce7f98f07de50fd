"""Stored consents to run commands and servers of the settings."""

import hashlib
import json
import shlex
import threading
from pathlib import Path

from carrel.config.tools import CommandSettings, ServerSettings
from carrel.store.tools.state import Consent
from carrel.system.atomic import write_private
from carrel.system.hashes import sha256
from carrel.text import redact

_LONGEST_SCRIPT = 1_000_000
"""A larger file is a program, not a script."""


class Consents:
    """The marks of given consents. Safe to use from several threads."""

    def __init__(self, state: Path) -> None:
        self._path = state / "tools.json"
        self._lock = threading.Lock()

    def has(self, consent: Consent) -> bool:
        """Return whether exactly this consent was given."""
        return consent.mark in self._read()

    def set(self, consent: Consent, allowed: bool) -> None:
        """Record a consent, or withdraw it.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            given = self._read()
            given.pop(consent.mark, None)
            if allowed:
                given[consent.mark] = f"{consent.name}: {consent.runs}"
            write_private(self._path, json.dumps(given, ensure_ascii=False, indent=1))

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def consent_of(
    name: str, settings: CommandSettings | ServerSettings, folder: Path, service: str
) -> Consent:
    """Return the consent that a service's agents need for a tool.

    It becomes invalid if a script that the command names changes.
    """
    url = settings.url if isinstance(settings, ServerSettings) else ""
    headers = settings.headers if isinstance(settings, ServerSettings) else {}
    kind = type(settings).__name__
    all_of_it = [
        *(kind, name, settings.command, url, str(folder), service),
        *(sorted(settings.env.items()), sorted(headers.items())),
        *(_content(folder / word) for word in settings.command),
    ]
    return Consent(
        name,
        "command" if isinstance(settings, CommandSettings) else "server",
        redact(url) if url else shlex.join(settings.command),
        hashlib.sha256(json.dumps(all_of_it).encode()).hexdigest(),
    )


def _content(path: Path) -> str:
    """Return the digest of a script.

    Empty for any other word, and for a program, which may be updated.
    """
    try:
        if not path.is_file() or path.stat().st_size > _LONGEST_SCRIPT:
            return ""
        return sha256(path)
    except (OSError, ValueError):
        return ""
