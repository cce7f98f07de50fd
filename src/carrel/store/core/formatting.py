"""Formatting of sizes, ages, counts and badges."""

import math
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from carrel.text import clean_name

BadgeRole = Literal["ready", "busy", "waiting", "failed", "hosted", "muted"]
"""Meaning of a badge; a face may add a colour but never rely on it alone."""

LONG_TYPE = 24
"""Number of characters of the longest MIME type that fits a narrow pane."""

MINUTE, HOUR, DAY = 60, 3600, 86400

_PICTURE = re.compile(r"img-\d*?(\d{1,3})\.\w+")
"""The bundled server counts a page's pictures from 1000 times its index."""
_NOTE = re.compile(r"(`+)[^`].*?\1|(?<!\\)\[\^(\d{1,3}|[*†‡§])\]:?", re.DOTALL)
"""A note's mark; code matches first, to be left as it is."""
_RAISED = str.maketrans({**dict(zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)), "*": "\\*"})


@dataclass(frozen=True, slots=True)
class Badge:
    """A mark, a word, and their role."""

    mark: str
    text: str
    role: BadgeRole

    def __str__(self) -> str:
        return f"{self.mark} {self.text}".strip()


def one_line(text: str) -> str:
    """Return the text as one line."""
    return " ".join(clean_name(text).split())


def picture_words(name: str) -> str:
    """Return the display name of a page's picture: `Picture 1` for `img-0.jpeg`."""
    number = _PICTURE.fullmatch(name)
    return name if number is None else f"Picture {int(number[1]) + 1}"


def raise_notes(markdown: str) -> str:
    """Return Markdown with the marks of its notes as raised digits, as `¹` for `[^1]`."""
    return _NOTE.sub(lambda found: found[0] if found[1] else found[2].translate(_RAISED), markdown)


def shorten(name: str, room: int) -> str:
    """Shorten a name to `room` characters by cutting its middle; the extension stays."""
    kept = max(room - 1, 8)
    if len(name) <= kept + 1:
        return name
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"


def type_words(mimetype: str | None, name: str) -> str:
    """Return a file's type for display.

    Long types, as office files have, give way to the file name's extension.
    """
    ending = name.rpartition(".")[2]
    long = mimetype is not None and len(mimetype) > LONG_TYPE
    return ending if long and 0 < len(ending) < len(name) else mimetype or "–"


def count(number: int) -> str:
    """Return `1,204`."""
    return f"{number:,}"


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return `1 blob` or `1,204 blobs`; `nouns` is an irregular plural."""
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def size(number: float | None) -> str:
    """Return a number of bytes as `310 kB` or `1.2 MB`, or a dash for None."""
    if number is None:
        return "–"
    if number < 1000:
        return f"{number:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        number /= 1000
        # 999.5 would read 1000.
        if number < 999.5 or unit == "TB":
            break
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:,.0f} {unit}"


def percent(part: float) -> str:
    """Return a fraction as `98 %`, rounded down, so that 99.9 % does not read 100 %."""
    # A fraction such as 0.29 is slightly smaller as a float.
    return f"{math.floor(100 * part + 1e-6)} %"


def age(seconds: float) -> str:
    """Return an age: `now`, `2 min ago`, `1 h ago`, `3 d ago`."""
    if seconds < MINUTE:
        return "now"
    if seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min ago"
    if seconds < DAY:
        return f"{seconds // HOUR:.0f} h ago"
    return f"{seconds // DAY:,.0f} d ago"


def clock(at: float, now: float) -> str:
    """Return a time of day, `14:02`; on another day with the date, `Sat 21 Nov, 14:02`."""
    then = datetime.fromtimestamp(at)
    same_day = then.date() == datetime.fromtimestamp(now).date()
    return then.strftime("%H:%M" if same_day else "%a %d %b, %H:%M")


def duration(seconds: float) -> str:
    """Return a duration: `0.4 s`, `9 s`, `3 min`, `2 h`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s" if seconds < 0.95 or round(seconds, 1) % 1 else f"{seconds:.0f} s"
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min"
    return f"{seconds // HOUR:.0f} h"


def time_left(seconds: float) -> str:
    """Return the remaining time in whole seconds: `10 s left`."""
    return f"{duration(math.ceil(seconds))} left"


def range_words(page: int, page_size: int, total: int | None, shown: int) -> str:
    """Return `41–60 of 1,204`; empty when nothing is shown."""
    return view_words(range(page * page_size, page * page_size + shown), total)


def view_words(rows: range, total: int | None) -> str:
    """Return `41–60 of 1,204` for the rows in view, which count from 0."""
    if not rows:
        return ""
    first, shown = rows.start + 1, len(rows)
    return f"{count(first)}–{count(first + shown - 1)}" + (
        f" of {count(total)}" if total is not None else ""
    )
