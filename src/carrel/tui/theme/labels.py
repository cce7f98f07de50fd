"""Text that came from elsewhere, made safe to show.

It goes into `Content`, which Textual never reads as markup, and control characters go:
a name on this machine's own disk may hold them too.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.color import Color, ColorParseError
from textual.content import Content

from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.store.core.formatting import Badge
    from carrel.store.core.problem import Problem

_BREAKS = str.maketrans({"\n": "↵", "\t": " "})


def line(text: str, style: str = "") -> Content:
    """Return the text on one line, in a style that may name the theme's roles (`$muted`)."""
    return Content.styled(clean_text(text).translate(_BREAKS), style)


def block(text: str, style: str = "") -> Content:
    """Return the text with its line breaks."""
    return Content.styled(clean_text(text), style)


def trail(*names: str) -> str:
    """Return the way to a thing, from the outermost: `support › v3`. Empty names are left out."""
    return " › ".join(filter(None, names))


def title(text: str, *details: str) -> Content:
    """Return a pane's title: the name, then what is worth knowing about it, muted."""
    return Content("").join(
        [line(text, "bold"), *(line(f" · {detail}", "$muted") for detail in details if detail)]
    )


def profile(name: str, colour: str | None) -> Content:
    """Return a profile's name, on its colour where it has one that is a colour."""
    try:
        behind = Color.parse(colour) if colour else None
    except ColorParseError:
        behind = None
    if behind is None:
        return line(name, "bold")
    return line(f" {name} ", f"bold {behind.get_contrast_text().hex6} on {behind.hex6}")


def short_id(identifier: str) -> Content:
    """Return an id as a person tells it from others."""
    if len(identifier) > 16:
        identifier = f"{identifier[:8]}…{identifier[-4:]}"
    return line(identifier, "$muted")


def badge(shown: "Badge | None") -> Content:
    """Return a mark and its word in the colour of its role."""
    return Content("") if shown is None else line(str(shown), f"${shown.role}")


def problem(found: "Problem") -> tuple[Content, ...]:
    """Return the title, the particulars and the advice of a problem, below one another."""
    parts = (line(found.title, "$failed"), line(found.detail))
    return (*parts, line(found.advice, "$muted")) if found.advice else parts


def names(many: Iterable[str], most: int = 10) -> list[Content]:
    """Return the first names, a line each, and how many more there are."""
    rows = [line(name) for name in many]
    if len(rows) > most:
        rows[most:] = [Content.styled(f"and {len(rows) - most:,} more", "$muted")]
    return rows


def fields(*rows: tuple[str, Content]) -> Content:
    """Return names and values below one another, for a details pane."""
    width = max((len(name) for name, _ in rows), default=0) + 2
    lines = [Content.assemble((name.ljust(width), "$muted"), value) for name, value in rows]
    return Content("\n").join(lines)


def bar(fraction: float | None, width: int = 16) -> Content:
    """Return a progress bar; `fraction` is from 0 to 1, None where it is unknown."""
    if fraction is None:
        return Content.styled("─" * width, "$line")
    halves = round(max(0.0, min(fraction, 1.0)) * width * 2)
    full = "━" * (halves // 2) + "╸" * (halves % 2)
    return Content.assemble((full, "$accent"), ("─" * (width - len(full)), "$line"))


def highlight(passage: str) -> Content:
    """Return a passage with what stands between « and » marked."""
    parts: list[Content] = []
    for index, part in enumerate(passage.split("«")):
        match, closed, rest = part.partition("»")
        if index and closed:
            parts += [line(f"«{match}»", "bold $match"), line(rest)]
        else:
            parts.append(line(("«" if index else "") + part))
    return Content("").join(parts)
