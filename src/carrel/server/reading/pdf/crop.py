"""Removes what lies outside a page's crop box: a printer's marks, the next page of a sheet."""

from collections.abc import Iterable
from dataclasses import replace

from carrel.server.reading.page.elements import Box
from carrel.server.reading.page.parsed import ParsedPage, PlacedWord, TextItem
from carrel.server.reading.page.rules import Rule

_BLEED = 1.0
"""Points. Anything reaches so far beyond the page: its box is a little larger than its ink."""


def cropped(page: ParsedPage) -> ParsedPage:
    """Return the page without words, links, rules and drawings beyond its edges."""
    edges = Box(0, 0, page.width, page.height)
    return replace(
        page,
        items=[kept for item in page.items if (kept := _cut(item, edges))],
        links=[link for link in page.links if edges.holds_centre(link.box)],
        rules=list(_cut_rules(page.rules, edges)),
        drawings=[box for box in page.drawings if edges.holds_centre(box)],
    )


def _cut(item: TextItem, page: Box) -> TextItem | None:
    """Return an item without the words beyond the page, or None if none is left."""
    box = item.box
    if (
        box.left >= -_BLEED
        and box.top >= -_BLEED
        and box.right <= page.right + _BLEED
        and box.bottom <= page.bottom + _BLEED
    ):
        return item
    inside = [word for word in item.words if page.holds_centre(_box(word))]
    if len(inside) == len(item.words):
        return item if inside or page.holds_centre(box) else None
    if not inside:
        return None
    whole = Box.around(map(_box, inside))
    text = " ".join(word.text for word in inside)
    return TextItem(
        text,
        whole.left,
        whole.top,
        whole.width,
        whole.height,
        item.rotation,
        item.font,
        item.size,
        inside,
    )


def _box(word: PlacedWord) -> Box:
    return Box(word.x, word.y, word.x + word.width, word.y + word.height)


def _cut_rules(rules: Iterable[Rule], page: Box) -> Iterable[Rule]:
    for rule in rules:
        at, along = (page.bottom, page.right) if rule.across else (page.right, page.bottom)
        start, end = max(0.0, rule.start), min(along, rule.end)
        if 0 <= rule.at <= at and start < end:
            yield rule._replace(start=start, end=end)
