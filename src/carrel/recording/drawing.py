"""Filter of terminal output that passes only drawing sequences.

A clipboard, hyperlink or title sequence may hold invisible text; a query, mode or picture sequence
would act on the player's terminal.
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
"""Final bytes of sequences for moving, erasing, inserting, scrolling and colours."""
_CURSOR = ("?25h", "?25l")
_SHORT = frozenset(("7", "8", "M", "(B", "(0"))
"""Save and restore cursor, reverse line feed, line-drawing characters."""


class Drawing:
    """Filters output incrementally; a sequence may be split between pieces."""

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
