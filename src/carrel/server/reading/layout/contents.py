"""Tables of contents: entries with page numbers, most with leaders, as a list."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from carrel.server.reading.layout.hyphens import continued
from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.lines import one_line

_FEWEST = 3
"""Fewest entries with leaders, and with one right margin, that make contents."""
_FEWEST_PLAIN = 5
"""Fewest entries of contents without leaders."""
_SAME_LINE = 0.4
"""Pieces of one line differ in height by less than this part of their own."""
_SAME_EDGE = 3.0
"""Points by which right edges of page numbers may differ."""
_INDENT = 4.0
"""Points of indentation between levels of entries, at least."""
_PITCH = 3.5
"""Largest distance between entries, top to top, in line heights."""
_ENTRY = re.compile(r"(.*?[^\s.…])((?:\s?[.…]){3,}|\s*…)?\s+(\d{1,4}|[ivxlc]{1,7})")
"""A title, perhaps a leader, and a page number."""
_SECTION = re.compile(r"\d+\.\d.*[^\W\d_]")
"""Start of an entry that needs no leader where its page number stands apart."""
_APART = 0.7
"""Least width of such an entry per letter, as a part of its type size."""
_CLOSE = 0.6
"""Largest gap between the lines of one title, as a part of their height."""
_LONG = 0.6
"""Least width of the first line of a title of two, as a part of the second with its number."""
_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,7}")
_DEPTH = re.compile(r"(\d{1,2}(?:\.\d{1,3})*)[.)]?\s")
"""The number of a chapter or section before its title."""
_TITLE = re.compile(
    r"(table of )?contents|inhalt(sverzeichnis|sübersicht)?|sommaire|table des matières|índice"
    r"|sumário|indice|sommario|inhoud(sopgave)?|indhold(sfortegnelse)?|innehåll(sförteckning)?"
    r"|innhold|sisällys(luettelo)?|sisukord|spis treści|obsah|tartalom(jegyzék)?|cuprins"
    r"|kazalo|sadržaj|turinys|saturs|содержание|оглавление|съдържание|περιεχόμενα|目次|目录",
    re.IGNORECASE,
)
"""Titles of contents in languages of Europe and the Far East."""
_DOTS = 3
"""Fewest dots of a leader."""
_LEADER = re.compile(r"…|\.(?: ?\.){3}")
_NUMBERED = re.compile(r"\.$|\d+\.\d+(?:[.\d]*$|.*\s\d+$)")
"""A dot alone, and an entry that begins with the number of a section."""


@dataclass(frozen=True)
class _Entry:
    line: Line
    led: bool
    """Whether it has a leader."""


def contents(lines: Sequence[Line]) -> tuple[list[Region], list[Line]]:
    """Return the entries of a page's table of contents, and its other lines."""
    signs = sum(_is_sign(line.text) for line in lines)
    numbers = len([line for line in lines if line.text[-1:].isdigit()])
    if signs < _FEWEST and numbers < _FEWEST_PLAIN:
        return [], list(lines)
    found = _led(lines) if signs >= _FEWEST else []
    found = _whole([line for line in found or _plain(lines) if not _is_head(line)], lines)
    held = [line.box for line in found]
    rest = [line for line in lines if not any(box.holds_centre(line.box) for box in held)]
    return _levelled(found), rest


def _is_head(entry: Line) -> bool:
    """Return whether an entry is the running head of contents, with the page's own number."""
    return _TITLE.fullmatch(entry.text.partition(" … ")[0]) is not None


def _led(lines: Sequence[Line]) -> list[Line]:
    """Return the entries of a table of contents with leaders."""
    entries = list(_entries(lines))
    found: list[Line] = []
    for edge in _edges([entry.line.box.right for entry in entries if entry.led]):
        here = [entry for entry in entries if abs(entry.line.box.right - edge) <= _SAME_EDGE]
        for run in _runs(here):
            if sum(entry.led for entry in run) >= _FEWEST:
                found += (entry.line for entry in run)
    return found


def _plain(lines: Sequence[Line]) -> list[Line]:
    """Return the entries of a table of contents without leaders.

    A table may look alike: these have a title of contents, numbers of sections, or indentation.
    """
    entries = [entry for row in _rows(lines) for entry in _parted_row(row)]
    titled = any(_TITLE.fullmatch(line.text.strip(" :")) for line in lines)
    found: list[Line] = []
    for edge in _edges([entry.line.box.right for entry in entries]):
        here = [entry for entry in entries if abs(entry.line.box.right - edge) <= _SAME_EDGE]
        for run in _runs(here):
            if len(run) < _FEWEST_PLAIN or _page(run[0]) == _page(run[-1]):
                continue
            texts = [entry.line for entry in run]
            numbered = sum(_DEPTH.match(line.text) is not None for line in texts)
            levels = {region.level for region in _levelled(texts)}
            if titled or 2 * numbered > len(run) or len(levels) > 1:
                found += texts
    return found


def _parted_row(row: Sequence[Line]) -> list[_Entry]:
    """Return the entries of a row, each a title and a number, or none if it has other columns."""
    entries: list[_Entry] = []
    pieces: list[Line] = []
    for line in row:
        if not _PAGE.fullmatch(line.text):
            pieces.append(line)
            continue
        if not pieces or not _is_title(pieces):
            return []
        whole = one_line([*pieces, line])
        match = _ENTRY.fullmatch(whole.text)
        if match is None or line.box.left - pieces[-1].box.right < line.box.height:
            return []
        entries.append(_Entry(_with_leader(whole, match), led=False))
        pieces = []
    return [] if pieces else entries


def _is_title(pieces: Sequence[Line]) -> bool:
    """Return whether the pieces of a row are one text, after an optional section number."""
    start = 1 if len(pieces) > 1 and _DEPTH.fullmatch(f"{pieces[0].text} ") else 0
    texts = pieces[start:]
    return any(letter.isalpha() for letter in texts[0].text) and all(
        right.box.left - left.box.right < left.box.height for left, right in pairwise(texts)
    )


def _is_sign(text: str) -> bool:
    """Return whether a line may be part of contents; a page with few such lines has none."""
    # Few lines pass these looks, which take a fraction of a pattern's time.
    if (text[:1].isdigit() or text == ".") and _NUMBERED.match(text):
        return True
    return ("…" in text or ".." in text or ". ." in text) and bool(_LEADER.search(text))


def _entries(lines: Sequence[Line]) -> Iterator[_Entry]:
    """Yield the parts of each row that end in a page number."""
    for row in _rows(lines):
        leaders = [line for line in row if not line.text.strip(" .…")]
        texts = [line for line in row if line not in leaders]
        pieces: list[Line] = []
        for line in texts:
            pieces.append(line)
            whole = one_line(pieces)
            match = _ENTRY.fullmatch(whole.text)
            if match is None:
                continue
            led = bool(match[2]) or _is_parted(whole) or _leads(leaders, whole.box)
            if led or line is texts[-1]:
                yield _Entry(_with_leader(whole, match), led)
                pieces = []


def _leads(leaders: Sequence[Line], entry: Box) -> bool:
    """Return whether an entry has enough dots for a leader; each may be a piece of its own."""
    inside = [leader.text for leader in leaders if entry.holds_centre(leader.box)]
    return "…" in inside or sum(text.count(".") for text in inside) >= _DOTS


def _is_parted(line: Line) -> bool:
    """Return whether a numbered title and its page number are apart, their leader lost."""
    wide = line.box.width > _APART * line.size * len(line.text)
    return wide and _SECTION.match(line.text) is not None


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines grouped by height on the page, each group from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box.centre[1]):
        above = rows[-1][0].box if rows else None
        if above and line.box.centre[1] - above.centre[1] < _SAME_LINE * line.box.height:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box.left) for row in rows]


def _with_leader(line: Line, match: re.Match[str]) -> Line:
    """Return the line with an ellipsis between its title and page number."""
    title, number = match[1], match[3]
    marks = tuple(
        mark._replace(start=min(mark.start, len(title)), end=min(mark.end, len(title)))
        for mark in line.marks
        if mark.start < len(title)
    )
    return replace(line, text=f"{title} … {number}", marks=marks)


def _edges(rights: Sequence[float]) -> list[float]:
    """Return the right edges that several entries share."""
    groups: list[list[float]] = []
    for right in sorted(rights):
        if groups and right - groups[-1][0] <= _SAME_EDGE:
            groups[-1].append(right)
        else:
            groups.append([right])
    return [group[len(group) // 2] for group in groups if len(group) >= _FEWEST]


def _runs(entries: Sequence[_Entry]) -> list[list[_Entry]]:
    """Return the entries in a column whose page numbers rise; others are of a table."""
    ordered = sorted(entries, key=lambda entry: entry.line.box.top)
    runs = [ordered[:1]]
    for above, entry in pairwise(ordered):
        apart = entry.line.box.top - above.line.box.top > _PITCH * entry.line.box.height
        if apart or _page(entry) < _page(above):
            runs.append([])
        runs[-1].append(entry)
    return runs


def _whole(entries: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return the entries, each with the line above if its title begins there."""
    own = [entry.box for entry in entries]
    others = [line for line in lines if not any(box.holds_centre(line.box) for box in own)]
    return [
        next((continued(line, entry) for line in others if _goes_on(line, entry)), entry)
        for entry in entries
    ]


def _goes_on(line: Line, entry: Line) -> bool:
    """Return whether a title continues in the entry below: it is long and its second line hangs."""
    gap = entry.box.top - line.box.bottom
    indent = entry.box.left - line.box.left
    return (
        abs(gap) < _CLOSE * line.box.height
        and indent > -_SAME_EDGE
        and line.box.width > _LONG * entry.box.width
        and (entry.text[:1].islower() or (indent > _INDENT and not entry.text[:1].isdigit()))
    )


def _page(entry: _Entry) -> int:
    """Return the page number of an entry; ignore Roman ones, which the first pages have."""
    number = entry.line.text.rsplit(" ", 1)[-1]
    return int(number) if number.isdigit() else 0


def _levelled(lines: Sequence[Line]) -> list[Region]:
    """List items with a level by indentation, or without any by the numbers of sections."""
    levels: list[int] = []
    edges: list[float] = []
    for line in lines:
        left = line.box.left
        while edges and left < edges[-1] - _INDENT:
            edges.pop()
        if not edges or left > edges[-1] + _INDENT:
            edges.append(left)
        levels.append(len(edges) - 1)
    if not any(levels):
        numbers = [_DEPTH.match(line.text) for line in lines]
        depths = [number[1].count(".") if number else 0 for number in numbers]
        levels = [depth - min(depths) for depth in depths]
    return [
        Region("list_item", line.box, line.text, level, lines=(line,))
        for level, line in zip(levels, lines, strict=True)
    ]
