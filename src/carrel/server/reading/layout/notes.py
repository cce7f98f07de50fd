"""Footnotes, referenced by raised marks in the text, and authors, whose marks lead to them."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

from carrel.server.reading.page.elements import Box, Region

_SMALL = 0.95
"""Notes are smaller than this part of the text's size."""
_PROSE = 4
"""Fewest lines of the first text below the authors of a paper."""
_NOTE = re.compile(r"\[?(\d{1,2}|[*†‡§])[\].)]?\s*(?=[^\W\d])")


def with_notes(regions: Sequence[Region]) -> list[Region]:
    """Turn regions referenced by the page's raised marks into notes.

    A mark without a note stays a digit or a star.
    """
    wanted = {
        line.text[mark.start : mark.end]
        for region in regions
        for line in region.lines
        for mark in line.marks
        if not mark.url
    }
    if not wanted:
        return list(regions)
    usual = statistics.median(line.size for region in regions for line in region.lines)
    found = {
        marker: number
        for number, region in enumerate(regions)
        if (marker := _marker(region)) in wanted and region.lines[0].size < _SMALL * usual
    }
    known = [_drop_marks(region, wanted - found.keys()) for region in regions]
    for marker, number in found.items():
        region = known[number]
        text = region.text if region.kind == "list_item" else _NOTE.sub("", region.text, count=1)
        known[number] = replace(region, kind="note", text=text, marker=marker, level=0)
    return known


def _marker(region: Region) -> str:
    """Return the marker of a possible note, empty if the region cannot be one."""
    if region.kind not in ("paragraph", "list_item") or not region.lines:
        return ""
    match = _NOTE.match(region.lines[0].text)
    return match[1] if match else ""


def _drop_marks(region: Region, unknown: set[str]) -> Region:
    lines = []
    for line in region.lines:
        known = (m for m in line.marks if m.url or line.text[m.start : m.end] not in unknown)
        lines.append(line._replace(marks=tuple(known)))
    return replace(region, lines=tuple(lines)) if unknown else region


def without_authors(regions: Sequence[Region]) -> list[Region]:
    """Return the regions with text for headings between a page's title and its last signed text."""
    texts = [r for r in regions if r.kind == "paragraph" and not _is_signed(r)]
    if max((len(region.lines) for region in texts), default=0) < _PROSE:
        return list(regions)
    # A shorter one is prose, too, if it ends as a sentence does.
    long = (r for r in texts if len(r.lines) >= (2 if r.text.endswith(".") else _PROSE))
    prose = min(region.box.top for region in long)
    above = [region for region in regions if region.box.top < prose]
    heads = [region.box for region in regions if region.kind == "heading"]
    title = max(heads, key=lambda box: box.width * box.height, default=Box(0, 0, 0, 0))
    signed = (r.box for r in above if _is_signed(r) and r.box.shared_width(title) > 0)
    last = max((box.bottom for box in signed), default=0.0)
    authors = {box for box in heads if title.bottom <= box.centre[1] and box.top < last}
    return [replace(r, kind="paragraph", level=0) if r.box in authors else r for r in regions]


def _is_signed(region: Region) -> bool:
    """Return whether a text has several raised marks, as authors have, or an address of mail."""
    marks = sum(not mark.url for line in region.lines for mark in line.marks)
    return marks > len(region.lines) or ("@" in region.text and len(region.lines) < _PROSE)
