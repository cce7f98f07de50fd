"""Footnotes: small print referenced by raised marks in the text."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

from carrel.server.reading.page.elements import Region

_SMALL = 0.95
"""Notes are smaller than this part of the text's size."""
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
