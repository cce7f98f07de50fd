"""Filters terminal output: drawing stays, everything else goes.

A clipboard, a hyperlink or a title holds what no onlooker sees; a query, a mode or a picture
protocol would act on the terminal of whoever plays the recording.
"""

import re

_SEQUENCE = re.compile(
    r"\x1b\[(?P<parameters>[\x30-\x3f]*)(?P<between>[\x20-\x2f]*)(?P<final>[\x40-\x7e])"
    r"|\x1b[P\]_^X].*?(?:\x07|\x1b\\)"
    r"|\x1b(?P<short>[\x20-\x2f]*[\x30-\x7e])"
    r"|[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]",
    re.S,
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*|[P\]_^X](?:(?!\x07|\x1b\\).)*|[\x20-\x2f]*)$", re.S
)
_FINALS = frozenset("ABCDEFGHJKLMPSTX@`abdefrm")
"""Moving, erasing, inserting, scrolling, colours."""
_CURSOR = ("?25h", "?25l")
_SHORT = frozenset(("7", "8", "M", "(B", "(0"))
"""The cursor saved and restored, one line up, the set of line characters."""


class Drawing:
    """Filters output as it comes; a sequence may be split between two pieces."""

    def __init__(self) -> None:
        self._rest = ""

    def of(self, text: str) -> str:
        """Return the drawing part of the next piece."""
        text = self._rest + text
        unfinished = _UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._rest = text[end:]
        return _SEQUENCE.sub(_keep, text[:end])


def _keep(found: re.Match[str]) -> str:
    parameters, final = found["parameters"], found["final"]
    if final is None:
        return found[0] if found["short"] in _SHORT else ""
    if parameters + final in _CURSOR:
        return found[0]
    plain = not found["between"] and parameters[:1] not in tuple("<=>?")
    return found[0] if plain and final in _FINALS else ""
