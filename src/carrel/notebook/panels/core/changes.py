"""Differences as rows for a view."""

from collections.abc import Iterable

from carrel.notebook.panels.core.base import Json
from carrel.store.agents.formatting import FieldRow, gap_words, line_sign
from carrel.store.core.diff import Hunk, side_by_side


def changes_json(rows: Iterable[FieldRow]) -> list[Json]:
    """Return changed fields with the lines of their changes."""
    return [
        {
            "field": row.field,
            "words": row.words,
            "change": row.change,
            "depth": row.depth,
            "hunks": [_hunk(hunk) for hunk in row.hunks],
        }
        for row in rows
    ]


def _hunk(hunk: Hunk) -> Json:
    """Return the lines of a change, one below the other and side by side."""
    number = {id(line): index for index, line in enumerate(hunk.lines)}
    return {
        "gap": gap_words(hunk.skipped) if hunk.skipped else "",
        "lines": [
            {
                "change": line.change,
                "sign": line_sign(line.change),
                "spans": [{"text": span.text, "change": span.change} for span in line.spans],
            }
            for line in hunk.lines
        ],
        "pairs": [
            [None if side is None else number[id(side)] for side in pair]
            for pair in side_by_side(hunk.lines)
        ],
    }
