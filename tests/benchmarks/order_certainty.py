"""Whether blocks follow the right one as often as their certainty says.

A block is right when it is whole and begins in the truth where the one before it ends. Where its
first or last letters are not in the truth at all, which may be misread, it says nothing.
"""

from collections.abc import Iterator, Sequence

from carrel.wire.ocr import Page
from support.designs import Truth

_EDGE = 20
"""Letters at either end of a block that place it in the truth."""
_MISREAD = 0.02
"""Part of a block's letters that OCR may add or lose."""
_JOINT = 3
"""Letters that may be added or lost between two blocks."""
_FLOWING = frozenset(["title", "text", "list", "code", "table"])


def certainties(pages: Sequence[Page], truth: Truth) -> Iterator[tuple[float, bool]]:
    """The certainty of each block's order, and whether it is right."""
    # A caption and a label may be read before or after the text beside them.
    flow = [text for text in truth.texts if not text.startswith("Figure ")]
    whole, asides = _letters(" ".join(flow)), [_letters(aside) for aside in truth.asides]
    before: list[int] = [0]
    for block in (block for page in pages for block in page.blocks or ()):
        text = _letters(block.content)
        if block.type not in _FLOWING or not text or any(text in aside for aside in asides):
            continue
        edge = min(_EDGE, len(text))
        starts = [*_places(whole, text[:edge])]
        ends = [place + edge for place in _places(whole, text[-edge:])]
        scores = block.confidence_scores
        spans = [
            (start, end)
            for start in starts
            for end in ends
            if abs(end - start - len(text)) <= _MISREAD * len(text) + _JOINT
        ]
        if starts and ends and scores and scores.order_confidence_score is not None:
            right = any(abs(start - end) <= _JOINT for start, _ in spans for end in before)
            yield scores.order_confidence_score, right
        before = [end for _, end in spans] or ends


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
