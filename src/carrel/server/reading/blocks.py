"""liteparse's view of a page, as regions, with what it gets wrong put right."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from carrel.server.reading.layout import Box, Frame, Line, PageLayout, Region, Word, join_lines

Recognised = Callable[[str, Box], tuple[Word, ...] | None]
"""The words of a line that OCR found, by its text and place."""

_BULLET = re.compile(r"[•◦▪‣●○■□*·–—-](?=\s+\S)")
_NUMBER = re.compile(r"\(?(\d{1,3})(?:[.)](?=\s)|(?=\s+\S))")
_LETTER = re.compile(r"\(?[a-z][.)](?=\s)", re.IGNORECASE)
_BAND = 0.075
"""The part of a page, at its top and bottom, where running heads stand."""


def page_layout(parsed: Any, frame: Frame, recognised: Sequence[Line] = ()) -> PageLayout:
    """The regions of a page that liteparse parsed with blocks, words and annotations."""
    lines = _lines(parsed.text_items, recognised)
    regions = [region for block in parsed.blocks if (region := _region(block))]
    regions = _with_lines(regions, lines)
    regions = [part for region in regions for part in _mended(region)]
    regions = _running_heads(regions, frame.upright_size[1])
    links = [note.uri for note in parsed.annotations or [] if note.uri]
    return PageLayout(frame, regions, list(dict.fromkeys(links)))


def _box(rect: Any) -> Box:
    return Box(rect.x, rect.y, rect.x + rect.width, rect.y + rect.height)


def _lines(items: Iterable[Any], recognised: Sequence[Line]) -> list[Line]:
    by_text: dict[str, list[Line]] = {}
    for line in recognised:
        by_text.setdefault(line.text.strip(), []).append(line)
    lines = []
    for item in items:
        text = item.text.strip()
        if not text:
            continue
        known = by_text.get(text)
        if known:
            words = known.pop(0).words if len(known) > 1 else known[0].words
        else:
            certainty = 1.0 if item.confidence is None else item.confidence
            words = tuple(Word(word, certainty) for word in text.split())
        lines.append(Line(text, _box(item), item.height, words))
    return lines


def _region(block: Any) -> Region | None:
    """A block as a region; None for what has no content."""
    if block.bbox is None:
        return None
    box = _box(block.bbox)
    match block.kind:
        case "heading":
            return Region("heading", box, block.text, level=block.level or 1)
        case "paragraph":
            return Region("paragraph", box, block.text)
        case "list_item":
            marker = (block.marker or "-").strip()
            return Region("list_item", box, block.text, level=block.level or 0, marker=marker)
        case "code" | "grid_fallback":
            return Region("code", box, "\n".join(block.lines or []).strip("\n"))
        case "table":
            rows = [block.header, *(block.rows or [])] if block.header else block.rows or []
            cells = tuple(tuple(cell.text.strip() for cell in row) for row in rows)
            return Region("table", box, rows=cells) if cells else None
        case "figure":
            return Region("figure", box)
        case _:
            return None


def _with_lines(regions: list[Region], lines: list[Line]) -> list[Region]:
    """Gives every region the lines that lie in it; a line goes to the smallest such region."""
    held: list[list[Line]] = [[] for _ in regions]
    for line in lines:
        x, y = line.box.centre
        around = [
            (region.box.width * region.box.height, number)
            for number, region in enumerate(regions)
            if region.kind != "figure" and region.box.holds(x, y)
        ]
        if around:
            held[min(around)[1]].append(line)
    return [
        Region(
            region.kind, region.box, region.text, region.level, region.marker, region.rows,
            tuple(sorted(inside, key=lambda line: (line.box.top, line.box.left))),
        )
        for region, inside in zip(regions, held, strict=True)
    ]  # fmt: skip


def _mended(region: Region) -> list[Region]:
    """Takes apart a paragraph or heading that swallowed a list."""
    if region.kind not in ("paragraph", "heading") or len(region.lines) < 2:
        return [region]
    starts = [number for number, line in enumerate(region.lines) if _marker(line.text)]
    if not _is_list([region.lines[number].text for number in starts]):
        return [region]
    parts = []
    if starts[0] > 0:
        parts.append(_rebuilt(region, region.lines[: starts[0]]))
    for first, after in pairwise([*starts, len(region.lines)]):
        item = region.lines[first:after]
        marker = _marker(item[0].text)
        text = join_lines(item)[len(marker) :].strip()
        box = Box.around(line.box for line in item)
        parts.append(Region("list_item", box, text, marker=marker, lines=item))
    return parts


def _rebuilt(region: Region, lines: tuple[Line, ...]) -> Region:
    """The region reduced to some of its lines."""
    box = Box.around(line.box for line in lines)
    return Region(region.kind, box, join_lines(lines), region.level, region.marker, lines=lines)


def _marker(text: str) -> str:
    """The list marker that a line begins with, or an empty text."""
    for pattern in (_BULLET, _NUMBER, _LETTER):
        if match := pattern.match(text):
            return match[0]
    return ""


def _is_list(starts: list[str]) -> bool:
    """Whether marked lines are a list: all bullets, all letters, or numbers rising by one."""
    if len(starts) < 2:
        return False
    if all(_BULLET.match(text) for text in starts):
        return True
    if all(_LETTER.match(text) for text in starts):
        return True
    numbers = [int(match[1]) for text in starts if (match := _NUMBER.match(text))]
    return len(numbers) == len(starts) and all(b == a + 1 for a, b in pairwise(numbers))


def _running_heads(regions: list[Region], height: float) -> list[Region]:
    """Marks what stands alone at a page's top and bottom edge as header and footer.

    Decided by the page alone, so that a page reads the same whichever pages were asked for.
    """
    texts = [region for region in regions if region.lines]
    body = [
        region
        for region in texts
        if not _in_band(region.box, height) or region.kind in ("table", "code")
    ]
    if not body:
        return regions
    inner = Box.around(region.box for region in body)
    sizes = sorted(line.size for region in body for line in region.lines)
    usual = sizes[len(sizes) // 2]

    def kind(region: Region) -> str:
        stands_alone = max(inner.top - region.box.bottom, region.box.top - inner.bottom) > usual
        small = all(line.size <= 1.25 * usual for line in region.lines)
        if region in body or not region.lines or not stands_alone or not small:
            return region.kind
        return "header" if region.box.bottom < inner.top else "footer"

    return [
        region
        if kind(region) == region.kind
        else Region(kind(region), region.box, join_lines(region.lines), lines=region.lines)  # type: ignore[arg-type]
        for region in regions
    ]


def _in_band(box: Box, height: float) -> bool:
    return box.bottom < height * _BAND or box.top > height * (1 - _BAND)
