"""Texts that were typed before."""

from __future__ import annotations

KEPT = 50
"""Texts that are kept."""


class History:
    """What was typed for one purpose, the newest last, each text once."""

    def __init__(self) -> None:
        self.texts: tuple[str, ...] = ()

    def note(self, text: str) -> None:
        """Adds a text, unless it is empty."""
        if text := text.strip():
            others = (each for each in self.texts if each != text)
            self.texts = (*others, text)[-KEPT:]
