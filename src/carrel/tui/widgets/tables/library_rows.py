"""The table rows of libraries, documents and search hits."""

from textual.content import Content

from carrel.store.libraries.formatting import DocumentRow, HitRow, LibraryRow
from carrel.tui.theme import labels
from carrel.tui.widgets.tables.table import Row


def draw_library(row: LibraryRow, synced: bool) -> Row:
    """Return the row of a library, with a mark if a folder is synced with it."""
    mark = Content.styled("◐", "$busy") if row.busy and not row.selected else None
    count = f"{row.documents} {'⟳' if synced else ' '}"
    return Row(row.id, (labels.line(row.name), Content.styled(count, "$muted")), mark)


def draw_document(row: DocumentRow) -> Row:
    """Return the row of a document."""
    return Row(
        row.id,
        (
            labels.line(row.name, "bold $accent" if row.marked else ""),
            labels.badge(row.status),
            Content(row.pages),
            Content.styled(row.added, "$muted"),
            labels.line(row.summary, "$muted"),
        ),
        Content.styled("✓", "$accent") if row.marked else None,
    )


def draw_hit(row: HitRow) -> Row:
    """Return the row of a search hit."""
    return Row(
        f"{row.number}-{row.document_id}",
        (
            Content(str(row.number)),
            labels.line(row.name),
            Content(row.page),
            labels.highlight(_from_match(row.passage)),
        ),
    )


def _from_match(passage: str) -> str:
    """Return a passage from its first match on: a row has no room for more."""
    before, mark, rest = passage.partition("«")
    return f"… {mark}{rest}" if mark and before else passage
