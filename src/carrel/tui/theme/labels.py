"""Foreign text, made safe to show.

It becomes `Content`, which Textual never parses as markup, without control characters, which even
local file names may contain.
"""

from collections.abc import Iterable

from textual.color import Color, ColorParseError
from textual.content import Content

from carrel.store.core.formatting import Badge
from carrel.store.core.problem import Problem
from carrel.text import clean_text

_BREAKS = str.maketrans({"\n": "↵", "\t": " "})


def line(text: str, style: str = "") -> Content:
    """Return the text on one line, in a style that may name the theme's roles (`$muted`)."""
    return Content.styled(clean_text(text).translate(_BREAKS), style)


def block(text: str, style: str = "") -> Content:
    """Return the text with its line breaks."""
    return Content.styled(clean_text(text), style)


def muted(words: str) -> Content:
    """Return our own words, which need no cleaning, in the muted colour."""
    return Content.styled(words, "$muted")


def tick(marked: bool) -> Content | None:
    """Return the mark of a marked row, or None."""
    return Content.styled("✓", "$accent") if marked else None


def trail(*names: str) -> str:
    """Return the breadcrumb of an item, from the outermost: `support › v3`. Empty names are
    skipped."""
    return " › ".join(filter(None, names))


def title(text: str, *details: str) -> Content:
    """Return a pane's title: the name, followed by muted details."""
    return Content("").join(
        [line(text, "bold"), *(line(f" · {detail}", "$muted") for detail in details if detail)]
    )


def profile(name: str, colour: str | None) -> Content:
    """Return a profile's name, on its colour if that is valid."""
    try:
        behind = Color.parse(colour) if colour else None
    except ColorParseError:
        behind = None
    if behind is None:
        return line(name, "bold")
    return line(f" {name} ", f"bold {behind.get_contrast_text().hex6} on {behind.hex6}")


def short_id(identifier: str) -> Content:
    """Return the shortest part of an id that users can distinguish."""
    if len(identifier) > 16:
        identifier = f"{identifier[:8]}…{identifier[-4:]}"
    return line(identifier, "$muted")


def badge(shown: Badge | None) -> Content:
    """Return a mark and its word in their role's colour."""
    return Content("") if shown is None else line(str(shown), f"${shown.role}")


def problem(found: Problem) -> tuple[Content, ...]:
    """Return the title, the details and the advice of a problem, one below the other."""
    parts = (line(found.title, "$failed"), line(found.detail))
    return (*parts, line(found.advice, "$muted")) if found.advice else parts


def names(many: Iterable[str], most: int = 10) -> list[Content]:
    """Return the first names, one per line, and the number of the others."""
    rows = [line(name) for name in many]
    if len(rows) > most:
        rows[most:] = [muted(f"and {len(rows) - most:,} more")]
    return rows


def fields(*rows: tuple[str, Content]) -> Content:
    """Return names and values one below the other, for a details pane."""
    width = max((len(name) for name, _ in rows), default=0) + 2
    lines = [Content.assemble((name.ljust(width), "$muted"), value) for name, value in rows]
    return Content("\n").join(lines)


def card(name: str, id: str, facts: Content) -> list[Content]:
    """Return the lines of an item for a details pane: its name, its id and its fields."""
    return [line(name, "bold"), short_id(id), Content(""), facts]


def bar(fraction: float | None, width: int = 16) -> Content:
    """Return a progress bar; `fraction` is from 0 to 1, or None if unknown."""
    if fraction is None:
        return Content.styled("─" * width, "$line")
    halves = round(max(0.0, min(fraction, 1.0)) * width * 2)
    full = "━" * (halves // 2) + "╸" * (halves % 2)
    return Content.assemble((full, "$accent"), ("─" * (width - len(full)), "$line"))


def highlight(passage: str) -> Content:
    """Return a passage with the text between « and » highlighted."""
    parts: list[Content] = []
    for index, part in enumerate(passage.split("«")):
        match, closed, rest = part.partition("»")
        if index and closed:
            parts += [line(f"«{match}»", "bold $match"), line(rest)]
        else:
            parts.append(line(("«" if index else "") + part))
    return Content("").join(parts)
