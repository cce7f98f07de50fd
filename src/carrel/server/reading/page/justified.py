"""Rejoins lines of text that liteparse splits where justification stretches their spaces.

Such gaps on lines below each other look like the gutter of columns.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from carrel.server.reading.page.parsed import TextItem

_LEVEL = 0.4
"""Pieces are on one line if their middles differ by less than this part of their height."""
_STRETCHED = 1.6
"""Largest gap in a line, as a multiple of its usual one."""
_SENTENCE = 2.4
"""Largest gap after a sentence, as a multiple of the usual one."""
_NARROWEST = 0.12
"""Narrowest gap between words, as a part of their height."""
_WIDEST = 1.2
"""Widest gap in a line, as a part of its height."""
_ALIKE = 1.3
"""Largest ratio between the heights of pieces of one text."""
_PITCH = 2.2
"""Largest distance of the next line, in line heights."""
_SENTENCE_ENDS = (".", "!", "?", ":")


def with_whole_lines(items: Iterable[TextItem]) -> list[TextItem]:
    """Joins adjacent items with a gap that is usual on their line.

    An item above or below must cross the gap: in a gutter none does.
    """
    items = list(items)
    rows = _rows([item for item in items if not item.rotation and item.words])
    joined = any(len(row) > 1 for row in rows)
    while joined:
        joined = False
        for number, row in enumerate(rows):
            if len(row) > 1:
                beside = [*rows[max(0, number - 1) : number], *rows[number + 1 : number + 2]]
                whole = _joined(row, [item for other in beside for item in other])
                joined |= len(whole) < len(row)
                rows[number] = whole
    found = [item for row in rows for item in row]
    return found + [item for item in items if item.rotation or not item.words]


def _rows(items: list[TextItem]) -> list[list[TextItem]]:
    """Groups items by height on the page, from left to right."""
    rows: list[list[TextItem]] = []
    for item in sorted(items, key=_middle):
        if rows and _middle(item) - _middle(rows[-1][0]) < _LEVEL * item.height:
            rows[-1].append(item)
        else:
            rows.append([item])
    return [sorted(row, key=lambda item: item.x) for row in rows]


def _middle(item: TextItem) -> float:
    return item.y + item.height / 2


def _joined(row: list[TextItem], beside: Sequence[TextItem]) -> list[TextItem]:
    if not any(_may_be_space(*pair) for pair in pairwise(row)):
        return row
    gaps = [gap for item in row for gap in _gaps(item)]
    gaps += [_gap(*pair) for pair in pairwise(row)]
    usual = statistics.median(gaps)
    whole = [row[0]]
    for item in row[1:]:
        last = whole[-1]
        most = _SENTENCE if last.text.rstrip().endswith(_SENTENCE_ENDS) else _STRETCHED
        if (
            _may_be_space(last, item)
            and _gap(last, item) <= most * usual
            and _are_alike(last, item)
            and any(_crosses(other, last, item) for other in beside)
        ):
            whole[-1] = _one(last, item)
        else:
            whole.append(item)
    return whole


def _gap(left: TextItem, right: TextItem) -> float:
    return right.x - left.x - left.width


def _may_be_space(left: TextItem, right: TextItem) -> bool:
    """Whether the gap between two pieces may be one between words."""
    return _NARROWEST * right.height < _gap(left, right) <= _WIDEST * right.height


def _gaps(item: TextItem) -> Iterator[float]:
    """The gaps between the words of an item."""
    return (after.x - word.x - word.width for word, after in pairwise(item.words))


def _are_alike(one: TextItem, other: TextItem) -> bool:
    high, low = max(one.height, other.height), min(one.height, other.height)
    return high <= _ALIKE * low


def _crosses(other: TextItem, left: TextItem, right: TextItem) -> bool:
    """Whether an item of the next line stands above or below a gap and what is beside it."""
    reach = right.height
    near = abs(_middle(other) - _middle(right)) <= _PITCH * reach
    across = other.x + reach < left.x + left.width and other.x + other.width > right.x + reach
    return near and across and _are_alike(other, right)


def _one(left: TextItem, right: TextItem) -> TextItem:
    """Both items as one, as high as the longer and in its font."""
    longer = max(left, right, key=lambda item: len(item.text))
    return TextItem(
        f"{left.text.strip()} {right.text.strip()}",
        left.x,
        longer.y,
        right.x + right.width - left.x,
        longer.height,
        0.0,
        longer.font,
        longer.size,
        [*left.words, *right.words],
    )
