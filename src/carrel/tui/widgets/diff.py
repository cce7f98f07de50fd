"""What changed between two versions, field by field."""

from collections.abc import Iterable, Mapping

from textual.content import Content

from carrel.store.selectors.agents import ChangeRow, line_sign
from carrel.store.selectors.diff import DiffLine
from carrel.tui import labels

_ROLES: Mapping[str, str] = {
    "same": "$muted",
    "added": "$added",
    "removed": "$removed",
    "changed": "",
}
NAME_WIDTH = 14


def diff(changes: Iterable[ChangeRow]) -> Content:
    """All fields below one another; text line by line, with the changed words underlined."""
    parts: list[Content] = []
    for row in changes:
        change = row.change.change
        name_style = "$muted" if change == "same" else "bold"
        parts.append(
            Content.assemble(
                labels.line(f"{row.field:<{NAME_WIDTH}}", name_style),
                labels.line(row.words, _ROLES[change]),
            )
        )
        if change != "same":
            parts.extend(_line(line) for line in row.change.lines)
    return Content("\n").join(parts)


def _line(row: DiffLine) -> Content:
    role = _ROLES[row.change]
    spans = [
        labels.line(span.text, role if span.change == "same" else f"bold underline {role}")
        for span in row.spans
    ]
    return Content.assemble((f"  {line_sign(row.change)} ", role), Content("").join(spans))
