"""asciicast v2: a header line, then an event per line, as many players and converters read it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard

from carrel.text import clean_text
from carrel.yamlfile import FileError

Kind = Literal["o", "r", "m"]
"""Output, resize, or mark."""
KINDS = ("o", "r", "m")
MOST_CELLS = 1000
"""Largest accepted width and height of a window in cells."""


class Event(NamedTuple):
    """An event, `at` seconds after the beginning."""

    at: float
    kind: Kind
    data: str


@dataclass(frozen=True)
class Recording:
    """A recording; `width` and `height` are the largest size of its window, in cells."""

    title: str
    width: int
    height: int
    events: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        """The duration in seconds."""
        return self.events[-1].at if self.events else 0.0

    @property
    def marks(self) -> tuple[Event, ...]:
        """The marks at the beginning of steps."""
        return tuple(event for event in self.events if event.kind == "m")


def header_line(width: int, height: int, title: str, began: int) -> str:
    """Return the header line; `began` is in seconds since 1970."""
    header = {"version": 2, "width": width, "height": height, "timestamp": began, "title": title}
    return json.dumps(header) + "\n"


def event_line(event: Event) -> str:
    """Return the line of an event."""
    return json.dumps([round(event.at, 6), event.kind, event.data]) + "\n"


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
    """Filters output incrementally, and passes only sequences that draw.

    A clipboard, hyperlink or title sequence may hold invisible text; a query, mode or picture
    sequence would act on the player's terminal. A sequence may be split between pieces.
    """

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


def read_recording(path: Path) -> Recording:
    """Read a recording and drop every sequence that does more than draw.

    A truncated last line, left by a crash, is ignored.

    Raises:
        FileError: the file is not asciicast v2.
        OSError: the file cannot be read.
    """
    text = path.read_bytes().decode(errors="replace")
    lines = text.split("\n")
    whole = lines[:-1]
    title, width, height = _header(path, lines[0])
    events: list[Event] = []
    drawing = Drawing()
    for number, line in enumerate(whole[1:], 2):
        if not line.strip():
            continue
        event = _event(path, number, line)
        if event.kind not in KINDS:
            continue
        if events and event.at < events[-1].at:
            raise FileError(path, number, "This event is earlier than the one before it.")
        if event.kind == "o":
            event = event._replace(data=drawing.of(event.data))
        elif event.kind == "m":
            event = event._replace(data=_line(event.data))
        else:
            columns, rows = _size(path, number, event.data)
            width, height = max(width, columns), max(height, rows)
        events.append(event)
    return Recording(title, width, height, tuple(events))


def _header(path: Path, line: str) -> tuple[str, int, int]:
    wrong = FileError(path, 1, "No recording: asciicast v2 begins with a line of its version.")
    try:
        header = json.loads(line)
    except ValueError:
        raise wrong from None
    if not isinstance(header, dict) or header.get("version") != 2:
        raise wrong
    width, height = header.get("width"), header.get("height")
    if not (_is_size(width) and _is_size(height)):
        raise FileError(path, 1, f"width and height are from 1 to {MOST_CELLS}.")
    return _line(str(header.get("title") or "")), width, height


def _event(path: Path, number: int, line: str) -> Event:
    try:
        match json.loads(line):
            case [int() | float() as at, str() as kind, str() as data] if 0 <= at < 1e9:
                return Event(float(at), kind, data)  # type: ignore[arg-type]
    except ValueError:
        pass
    raise FileError(path, number, 'An event is like [1.5, "o", "text"].')


def _size(path: Path, number: int, text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if columns.isdecimal() and rows.isdecimal():
        width, height = int(columns), int(rows)
        if _is_size(width) and _is_size(height):
            return width, height
    raise FileError(path, number, "A new size is like 120x36.")


def _is_size(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and 1 <= value <= MOST_CELLS


def _line(text: str) -> str:
    return " ".join(clean_text(text).split())
