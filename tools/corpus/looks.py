"""The look of a document, drawn at random or one of the families that are kept apart."""

import random
from dataclasses import dataclass, field, replace
from typing import Literal

Rules = Literal["grid", "three", "hair", "head", "none", "vertical", "box", "double", "inner"]
Shade = Literal["none", "stripes", "head", "stub", "columns", "all"]

SERIF = [
    "DejaVu Serif",
    "Liberation Serif",
    "TeX Gyre Termes",
    "TeX Gyre Pagella",
    "TeX Gyre Bonum",
    "TeX Gyre Schola",
    "EB Garamond",
    "Linux Libertine O",
    "Caladea",
    "Gentium",
    "GFS Didot",
    "Noto Serif",
    "Latin Modern Roman",
]
SANS = [
    "DejaVu Sans",
    "Liberation Sans",
    "Liberation Sans Narrow",
    "TeX Gyre Heros",
    "TeX Gyre Adventor",
    "Lato",
    "Roboto",
    "Open Sans",
    "Carlito",
    "Noto Sans",
    "Linux Biolinum O",
    "DejaVu Sans Condensed",
    "Latin Modern Sans",
    "Noto Sans Display",
]
_PAGES = {
    "a4": (595.3, 841.9),
    "letter": (612.0, 792.0),
    "a5": (419.5, 595.3),
    "b5": (498.9, 708.7),
    "legal": (612.0, 1008.0),
    "slide": (720.0, 405.0),
}


@dataclass(frozen=True)
class HeadingLook:
    scale: float
    bold: bool = True
    italic: bool = False
    case: Literal["", "upper", "small"] = ""
    align: Literal["left", "center"] = "left"
    colour: str = "#000"
    before: float = 1.2
    after: float = 0.5
    rule: bool = False
    band: str = ""
    """The colour behind it."""


@dataclass(frozen=True)
class TableLook:
    rules: Rules = "grid"
    shade: Shade = "none"
    scale: float = 0.9
    across: float = 4.0
    """Padding of a cell to its sides, in points."""
    down: float = 2.0
    head_bold: bool = True
    head_italic: bool = False
    head_colour: str = "#fff"
    """Of the letters, on a dark shade."""
    tint: str = "#eee"
    dark: bool = False
    """Whether the shaded head is dark, with light letters."""
    line: float = 0.6
    line_colour: str = "#000"
    vertical: Literal["top", "middle", "bottom"] = "top"
    caption_scale: float = 0.9
    caption_italic: bool = False
    caption_align: Literal["left", "center"] = "left"
    gap: float = 8.0
    """Space above and below, in points."""
    sans: bool = False
    repeats_head: bool = True
    """Whether the head stands again on each page that the table goes on to."""


@dataclass(frozen=True)
class Look:
    name: str = "random"
    serif: str = "TeX Gyre Termes"
    heads: str = "TeX Gyre Heros"
    size: float = 10.0
    leading: float = 1.25
    columns: int = 1
    gutter: float = 18.0
    column_rule: bool = False
    page: tuple[float, float] = _PAGES["a4"]
    margins: tuple[float, float, float, float] = (70, 62, 70, 62)
    justify: bool = True
    hyphens: bool = True
    indent: bool = False
    paragraph_gap: float = 0.5
    spacing: float = 0.0
    """Between letters, in points."""
    numbered: bool = False
    headings: tuple[HeadingLook, ...] = (HeadingLook(1.8), HeadingLook(1.4), HeadingLook(1.15))
    tables: tuple[TableLook, ...] = (TableLook(),)
    running_scale: float = 0.8
    running_rule: bool = False
    box_shade: bool = False

    def heading(self, level: int) -> HeadingLook:
        return self.headings[min(level, len(self.headings)) - 1]

    def table(self, index: int) -> TableLook:
        return self.tables[index % len(self.tables)]


_COLOURS = ("#000",) * 5 + ("#1a3a6b", "#7a1f1f", "#0b5d3b", "#444", "#8a4b08")
_TINTS = ("#eee", "#f4f4f4", "#ddd", "#e3ecf7", "#e8f2e4", "#fdf1dc", "#f0e6f3", "#cfd8e6")
_DARKS = ("#1f3864", "#333", "#7a1f1f", "#0b5d3b", "#4472c4", "#5a5a5a", "#00695c")


def table_look(rng: random.Random) -> TableLook:
    rules: Rules = rng.choices(
        ("grid", "three", "hair", "head", "none", "vertical", "box", "double", "inner"),
        (3, 4, 3, 2, 4, 1, 1, 1, 1),
    )[0]
    shade: Shade = rng.choices(
        ("none", "stripes", "head", "stub", "columns", "all"), (6, 3, 3, 0.7, 0.5, 0.4)
    )[0]
    dark = rng.random() < 0.45
    tight = rng.random()
    return TableLook(
        rules=rules,
        shade=shade,
        scale=rng.choice((0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.9, 1.0, 1.0)),
        across=rng.uniform(1.2, 4) if tight < 0.3 else rng.uniform(3.5, 9),
        down=rng.uniform(0.2, 1.2) if tight < 0.35 else rng.uniform(1, 6),
        head_bold=rng.random() < 0.65,
        head_italic=rng.random() < 0.12,
        tint=rng.choice(_DARKS) if shade == "head" and dark else rng.choice(_TINTS),
        dark=shade == "head" and dark,
        line=rng.choice((0.25, 0.4, 0.5, 0.75, 1.0)),
        line_colour=rng.choice(("#000", "#000", "#000", "#888", "#bbb", "#1a3a6b")),
        vertical=rng.choice(("top", "top", "middle", "bottom")),
        caption_scale=rng.choice((0.8, 0.9, 0.9, 1.0)),
        caption_italic=rng.random() < 0.2,
        caption_align=rng.choice(("left", "left", "center")),
        gap=rng.uniform(3, 16),
        sans=rng.random() < 0.2,
        repeats_head=rng.random() < 0.5,
    )


def _headings(rng: random.Random) -> tuple[HeadingLook, ...]:
    colour = rng.choice(_COLOURS)
    top = rng.choice((1.0, 1.3, 1.6, 1.8, 2.0, 2.4))
    modest = rng.random() < 0.3
    """Whether lower headings are of the size of the text."""
    band = rng.choice(_TINTS) if rng.random() < 0.07 else ""
    found = []
    for level in range(1, 5):
        scale = (
            top if level == 1 else 1.0 if modest else max(1.0, 1 + (top - 1) * (0.6 ** (level - 1)))
        )
        bold = rng.random() < (0.5 if scale > 1.3 else 0.85)
        plain = scale <= 1.05 and not bold
        found.append(
            HeadingLook(
                scale=round(scale, 2),
                bold=bold,
                italic=(plain and rng.random() < 0.6) or rng.random() < 0.08,
                case=rng.choices(("", "upper", "small"), (10, 1, 1) if not plain else (2, 1, 1))[0],
                align="center" if rng.random() < (0.3 if level == 1 else 0.08) else "left",
                colour=colour,
                before=rng.uniform(0.6, 1.8),
                after=rng.uniform(0.15, 0.8),
                rule=rng.random() < 0.06,
                band=band if level > 1 else "",
            )
        )
    return tuple(found)


def random_look(rng: random.Random, name: str = "random") -> Look:
    """Return a look whose parts are drawn apart from each other; never one of those kept apart."""
    while True:
        look = _random_look(rng, name)
        if not any(_resembles(look, kept) for kept in KEPT_APART.values()):
            return look


def _resembles(look: Look, kept: Look) -> bool:
    """Whether columns, rules and shades are a kept look's (of any size, font and density)."""
    ours, theirs = look.tables[0], kept.tables[0]
    return (
        look.columns == kept.columns
        and ours.rules == theirs.rules
        and ours.shade == theirs.shade
        and (look.serif in SERIF) == (kept.serif in SERIF)
    )


def _random_look(rng: random.Random, name: str) -> Look:
    serif = rng.choice(SERIF if rng.random() < 0.55 else SANS)
    page = _PAGES[rng.choices(tuple(_PAGES), (6, 3, 0.7, 0.7, 0.3, 0.5))[0]]
    columns = rng.choices((1, 2, 3), (6, 4, 0.5))[0]
    slide = page == _PAGES["slide"]
    if page[0] < 500 or slide:
        columns = 1
    if rng.random() < 0.1 and not slide:
        page = (page[1], page[0])
    size = (
        rng.choice((14, 16, 18, 20))
        if slide
        else rng.choice((7, 7.5, 8, 8.5, 9, 9.5, 10, 10, 10.5, 11, 12))
        if columns == 1
        else rng.choice((7.5, 8, 8.5, 9, 9, 9.5, 10))
    )
    side = rng.uniform(36, 85)
    several = rng.random() < 0.25
    return Look(
        name=name,
        serif=serif,
        heads=serif if rng.random() < 0.6 else rng.choice(SANS),
        size=size,
        leading=rng.choice((1.05, 1.15, 1.2, 1.25, 1.3, 1.45, 1.6)),
        columns=columns,
        gutter=rng.uniform(11, 30),
        column_rule=columns > 1 and rng.random() < 0.12,
        page=page,
        margins=(rng.uniform(45, 85), side, rng.uniform(45, 85), side * rng.uniform(0.8, 1.3)),
        justify=rng.random() < 0.55,
        hyphens=rng.random() < 0.5,
        indent=rng.random() < 0.35,
        paragraph_gap=rng.choice((0.0, 0.3, 0.5, 0.8, 1.0)),
        spacing=rng.choice((0.0,) * 9 + (0.3,)),
        numbered=rng.random() < 0.4,
        headings=_headings(rng),
        tables=tuple(table_look(rng) for _ in range(3 if several else 1)),
        running_scale=rng.choice((0.7, 0.8, 0.9, 1.0)),
        running_rule=rng.random() < 0.2,
        box_shade=rng.random() < 0.5,
    )


def newspaper_look(rng: random.Random) -> Look:
    """Return narrow columns close to each other, most of them justified without hyphens.

    The blanks in their lines are wider than those between them.
    """
    columns = rng.choice((2, 3, 3, 4))
    wide = rng.uniform(130, 185)
    gutter, side = rng.uniform(6, 15), rng.uniform(25, 60)
    return replace(
        _random_look(rng, "newspaper"),
        size=rng.uniform(7, 10),
        leading=rng.uniform(1.05, 1.25),
        columns=columns,
        gutter=gutter,
        column_rule=rng.random() < 0.4,
        page=(columns * wide + (columns - 1) * gutter + 2 * side, rng.uniform(500, 900)),
        margins=(rng.uniform(25, 70), side, rng.uniform(25, 70), side),
        justify=rng.random() < 0.9,
        hyphens=rng.random() < 0.25,
        paragraph_gap=rng.choice((0.0, 0.0, 0.3)),
        box_shade=False,
    )


_LEVELS = (HeadingLook(1.7), HeadingLook(1.25), HeadingLook(1.05, italic=True))
KEPT_APART: dict[str, Look] = {
    "journal": Look(
        "journal",
        serif="TeX Gyre Termes",
        heads="TeX Gyre Termes",
        size=9.5,
        leading=1.18,
        columns=2,
        indent=True,
        paragraph_gap=0.0,
        numbered=True,
        headings=_LEVELS,
        tables=(TableLook("three", scale=0.85, across=4, down=1),),
    ),
    "report": Look(
        "report",
        serif="Lato",
        heads="Lato",
        size=10,
        leading=1.35,
        justify=False,
        headings=(
            HeadingLook(2.2, colour="#1f3864"),
            HeadingLook(1.4, colour="#1f3864"),
            HeadingLook(1.1),
        ),
        tables=(TableLook("none", "stripes", scale=0.95, across=6, down=3, tint="#e8eef6"),),
    ),
    "hair": Look(
        "hair",
        serif="Open Sans",
        heads="Open Sans",
        size=9.5,
        leading=1.4,
        justify=False,
        headings=_LEVELS,
        tables=(TableLook("hair", scale=0.9, across=5, down=3.5, line=0.3, line_colour="#999"),),
    ),
    "grid": Look(
        "grid",
        serif="Liberation Serif",
        heads="Liberation Sans",
        size=11,
        leading=1.25,
        headings=_LEVELS,
        tables=(TableLook("grid", scale=0.95, across=5, down=2.5),),
    ),
    "thesis": Look(
        "thesis",
        serif="EB Garamond",
        heads="EB Garamond",
        size=11.5,
        leading=1.35,
        indent=True,
        paragraph_gap=0.0,
        numbered=True,
        headings=(
            HeadingLook(1.8, bold=False, case="small"),
            HeadingLook(1.3, bold=False, italic=True),
            HeadingLook(1.0, bold=False, case="small"),
        ),
        tables=(
            TableLook("none", scale=0.95, across=7, down=1.5, head_bold=False, head_italic=True),
        ),
    ),
    "paper": Look(
        "paper",
        serif="Caladea",
        heads="Carlito",
        size=9,
        leading=1.2,
        columns=2,
        gutter=22,
        paragraph_gap=0.4,
        headings=_LEVELS,
        tables=(TableLook("head", scale=0.9, across=3, down=1.2, line=0.5),),
    ),
}


def kept_look(name: str, rng: random.Random) -> Look:
    """Return one of the kept looks, its sizes moved a little."""
    look = KEPT_APART[name]
    return replace(
        look,
        size=look.size * rng.uniform(0.94, 1.06),
        leading=look.leading * rng.uniform(0.97, 1.05),
        page=rng.choice((_PAGES["a4"], _PAGES["letter"])),
    )


@dataclass(frozen=True)
class Fonts:
    """Families that hold a script's letters, after the ones that a look names."""

    fallback: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            "ar": ("Noto Naskh Arabic", "Amiri"),
            "fa": ("Noto Naskh Arabic", "Amiri"),
            "he": ("Noto Sans Hebrew", "Noto Serif Hebrew"),
            "zh": ("Noto Sans CJK SC", "Noto Serif CJK SC"),
            "ja": ("Noto Sans CJK JP", "Noto Serif CJK JP"),
            "ko": ("Noto Sans CJK KR", "Noto Serif CJK KR"),
            "hi": ("Noto Sans Devanagari",),
            "bn": ("Noto Sans Bengali",),
        }
    )


FONTS = Fonts()
