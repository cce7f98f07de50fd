"""Line diffs of two texts, with changed lines compared word by word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal

LineChange = Literal["same", "added", "removed"]

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DiffSpan:
    """A piece of a line."""

    text: str
    change: LineChange


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of the old text (same, removed) or the new one (same, added)."""

    change: LineChange
    spans: tuple[DiffSpan, ...]

    @property
    def text(self) -> str:
        """The whole line without its line ending."""
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with unchanged ones around them, after `skipped` unchanged lines."""

    skipped: int
    lines: tuple[DiffLine, ...]


Pair = tuple[DiffLine | None, DiffLine | None]
"""An old line and the new line beside it; None for a missing line."""


def compare_lines(old: str, new: str) -> tuple[DiffLine, ...]:
    """Compare two texts line by line, and replaced lines word by word.

    The same and removed lines make up the old text, the same and added lines the new text.
    """
    before, after = old.split("\n"), new.split("\n")
    lines: list[DiffLine] = []
    # Autojunk would ignore lines that a long text repeats.
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += (DiffLine("same", (DiffSpan(line, "same"),)) for line in before[a:b])
        else:
            lines += _replace(before[a:b], after[c:d])
    return tuple(lines)


def hunks(lines: Sequence[DiffLine], context: int = 3) -> tuple[Hunk, ...]:
    """Return the changes with up to `context` unchanged lines before and after each.

    Applying the hunks to the old text gives the new text.
    """
    near = {
        index + step
        for index, line in enumerate(lines)
        if line.change != "same"
        for step in range(-context, context + 1)
    }
    found: list[Hunk] = []
    skipped = 0
    together: list[DiffLine] = []
    for index, line in enumerate(lines):
        if index in near:
            together.append(line)
            continue
        if together:
            found.append(Hunk(skipped, tuple(together)))
            skipped, together = 0, []
        skipped += 1
    if together:
        found.append(Hunk(skipped, tuple(together)))
    return tuple(found)


def side_by_side(lines: Sequence[DiffLine]) -> tuple[Pair, ...]:
    """Return pairs of lines: the old text on the left, the new on the right."""
    pairs: list[Pair] = []
    for same, group in groupby(lines, lambda line: line.change == "same"):
        block = tuple(group)
        if same:
            pairs += ((line, line) for line in block)
        else:
            removed = (line for line in block if line.change == "removed")
            pairs += zip_longest(removed, (line for line in block if line.change == "added"))
    return tuple(pairs)


def _replace(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    """Yield replaced lines, paired in order."""
    pairs = [_words(old, new) for old, new in zip(before, after, strict=False)]
    paired = len(pairs)
    yield from (DiffLine("removed", old) for old, _ in pairs)
    yield from (DiffLine("removed", (DiffSpan(line, "removed"),)) for line in before[paired:])
    yield from (DiffLine("added", new) for _, new in pairs)
    yield from (DiffLine("added", (DiffSpan(line, "added"),)) for line in after[paired:])


def _words(old: str, new: str) -> tuple[tuple[DiffSpan, ...], tuple[DiffSpan, ...]]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    removed: list[DiffSpan] = []
    added: list[DiffSpan] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            removed.append(DiffSpan("".join(before[a:b]), "same"))
            added.append(DiffSpan("".join(after[c:d]), "same"))
            continue
        if a < b:
            removed.append(DiffSpan("".join(before[a:b]), "removed"))
        if c < d:
            added.append(DiffSpan("".join(after[c:d]), "added"))
    return tuple(removed), tuple(added)
