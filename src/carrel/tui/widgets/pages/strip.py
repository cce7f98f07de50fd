"""The pages of a document in one line."""

from textual.content import Content

from carrel.store.documents.formatting import PageMark
from carrel.tui.theme import labels

ROLES = {
    "read": "", "reading": "$busy", "waiting": "$muted", "skipped": "$muted",
    "current": "bold $accent",
}  # fmt: skip


def page_strip(marks: tuple[PageMark, ...], count: int, width: int) -> Content:
    """Return as many of the marks as fit around the current page of `count` in one line."""
    first = last = next((at for at, mark in enumerate(marks) if mark.current), 0)
    used = len(marks[first].text) if marks else 0
    while marks:
        after = last + 1 < len(marks) and used + len(marks[last + 1].text) + 1 <= width - 4
        if after:
            last += 1
            used += len(marks[last].text) + 1
        before = first > 0 and used + len(marks[first - 1].text) + 1 <= width - 4
        if before:
            first -= 1
            used += len(marks[first].text) + 1
        if not after and not before:
            break
    shown = marks[first : last + 1]
    parts = [
        Content.styled(mark.text, ROLES.get("current" if mark.current else mark.state, ""))
        for mark in shown
    ]
    if shown and shown[0].page > 0:
        parts.insert(0, labels.muted("…"))
    if shown and shown[-1].page + 1 < count:
        parts.append(labels.muted("…"))
    return Content(" ").join(parts)
