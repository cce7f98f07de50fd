"""The table of clients and operations in the docs."""

from collections.abc import Callable
from pathlib import Path

from conformance.clients import AREAS, CLIENTS, Client

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
_START, _END = "<!-- conformance: written by tests/conformance -->", "<!-- end of conformance -->"


def table(passed: Callable[[Client, str], bool]) -> str:
    """Operations by clients in Markdown, with a footnote for everything that needs one."""
    notes: list[str] = []

    def cell(client: Client, operation: str) -> str:
        if operation not in client.operations:
            mark = ""
        else:
            mark = "✓" if passed(client, operation) else "✗"
        note = client.notes.get(operation)
        if note is None:
            return mark
        if note not in notes:
            notes.append(note)
        return f"{mark}<sup>{notes.index(note) + 1}</sup>"

    lines = [_row("", *(client.name for client in CLIENTS)), _row("---", *[":-:"] * len(CLIENTS))]
    for area, names in AREAS.items():
        lines.append(_row(f"**{area}**", *[""] * len(CLIENTS)))
        for name in names:
            lines.append(_row(name, *(cell(client, f"{area}: {name}") for client in CLIENTS)))
    footnotes = [f"<sup>{number}</sup> {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in footnotes)


def written() -> str:
    """The table that the page holds now."""
    return _parts()[1].strip()


def write(new: str) -> None:
    """Puts a table into the page, in place of the one there."""
    before, _, after = _parts()
    PAGE.write_text(f"{before}{_START}\n\n{new}\n\n{_END}{after}")


def _parts() -> tuple[str, str, str]:
    before, _, rest = PAGE.read_text().partition(_START)
    block, _, after = rest.partition(_END)
    return before, block, after


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
