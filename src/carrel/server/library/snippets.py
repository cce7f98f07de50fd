"""Snippets of passages with their matched words."""

import re
from collections.abc import Sequence

from carrel.server.library.fulltext.words import Term, segment
from carrel.wire.libraries import Span

LENGTH = 240
"""Characters of a snippet, about."""
# Delimiters of matched words from the database; no text contains these characters.
START, END = "\ufdd0", "\ufdd1"
_MARKS = re.compile(f"{START}(.*?){END}", re.DOTALL)
_EDGE = re.compile(r"\s+")

Spans = Sequence[tuple[int, int]]


def matches(text: str, highlighted: str | None, terms: Sequence[Term]) -> Spans:
    """Return the spans of a query's words in a text, in order.

    `highlighted` is the text with the matches that the full-text index marked.
    """
    found: set[tuple[int, int]] = set()
    for count, match in enumerate(_MARKS.finditer(highlighted or "")):
        # Two marks a match before it, and one of its own.
        start = match.start() - 2 * count
        found.add((start, start + len(match[1])))
    folded = text.lower()
    # The index cuts such a text into pairs of characters, which it cannot mark in the text.
    if segment(text) is not None and len(folded) == len(text):
        for term in terms:
            found |= {match.span() for match in re.finditer(re.escape(term.text), folded)}
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def snippet(text: str, spans: Spans) -> tuple[str, list[Span], tuple[int, int]]:
    """Return the part of a text with the most different matched words, and its matches.

    With it, its range of characters in the text.
    """
    start, end = _window(text, spans)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    shift = len(before) - start
    inside = [
        Span(start=first + shift, end=last + shift)
        for first, last in spans
        if first >= start and last <= end
    ]
    return f"{before}{text[start:end]}{after}", inside, (start, end)


def _window(text: str, spans: Spans) -> tuple[int, int]:
    if len(text) <= LENGTH:
        return 0, len(text)

    def different(first: int) -> int:
        inside = [span for span in spans if first <= span[0] and span[1] <= first + LENGTH]
        return len({text[slice(*span)].lower() for span in inside})

    best = max((first for first, _ in spans), key=different, default=0)
    held = [last for first, last in spans if best <= first and last <= best + LENGTH]
    # What is around the matches is shared between both sides.
    room = LENGTH - (max(held, default=best + LENGTH) - best)
    start = min(max(0, best - room // 2), len(text) - LENGTH)
    end = start + LENGTH
    if start and (edge := _EDGE.search(text, start, best)):
        start = edge.end()
    if end < len(text):
        last = max(held, default=start)
        edges = [edge.start() for edge in _EDGE.finditer(text, last, end)]
        end = edges[-1] if edges else end
    return start, end
