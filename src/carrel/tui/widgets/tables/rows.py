"""The table rows of agents, versions, drafts, libraries, documents and search hits."""

from collections.abc import Mapping

from textual.content import Content

from carrel.store.agents.formatting import AgentRow, DraftRow, VersionRow, detail_rows
from carrel.store.libraries.formatting import DocumentRow, HitRow, LibraryRow
from carrel.tui.theme import labels
from carrel.tui.widgets.tables.table import Row
from carrel.wire.generation.agents import Agent

DRAFT = "draft"
"""Key of the draft's row among the versions."""


def details(agent: Agent, libraries: Mapping[str, str]) -> Content:
    """Return all details of an agent or a version."""
    rows = ((name, labels.line(value)) for name, value in detail_rows(agent, libraries))
    instructions = (labels.muted("Instructions"), labels.block(agent.instructions or "none"))
    parts = labels.card(agent.name, agent.id, labels.fields(*rows))
    return Content("\n").join([*parts, Content(""), *instructions])


def agent_row(row: AgentRow) -> Row:
    """Return the row of an agent."""
    return Row(row.id, (labels.line(row.name), labels.muted(row.version)))


def unsaved_row(row: DraftRow) -> Row:
    """Return the row of the draft, above the versions."""
    cells = (Content(DRAFT), labels.line(row.about, "$busy"), labels.muted(row.age))
    return Row(DRAFT, cells, Content.styled("✎", "$busy"))


def version_row(row: VersionRow) -> Row:
    """Return the row of a version."""
    what = labels.line(row.note)
    if row.active:
        what = Content.assemble(("active", "$ready"), "  " if what else "", what)
    if row.aliases:
        what = Content.assemble(labels.line(row.aliases, "$speaker"), "  " if what else "", what)
    mark = labels.tick(row.marked)
    if mark is None and row.active:
        mark = Content.styled("●", "$ready")
    return Row(str(row.number), (Content(row.name), what, labels.muted(row.age)), mark)


def draw_library(row: LibraryRow, synced: bool) -> Row:
    """Return the row of a library, with a mark if a folder is synced with it."""
    mark = Content.styled("◐", "$busy") if row.busy and not row.selected else None
    count = f"{row.documents} {'⟳' if synced else ' '}"
    return Row(row.id, (labels.line(row.name), labels.muted(count)), mark)


def draw_document(row: DocumentRow) -> Row:
    """Return the row of a document."""
    name = labels.line(row.name, "bold $accent" if row.marked else "")
    added, summary = labels.muted(row.added), labels.line(row.summary, "$muted")
    cells = (name, labels.badge(row.status), Content(row.pages), added, summary)
    return Row(row.id, cells, labels.tick(row.marked))


def draw_hit(row: HitRow) -> Row:
    """Return the row of a search hit."""
    passage = labels.highlight(_from_match(row.passage))
    cells = (Content(str(row.number)), labels.line(row.name), Content(row.page), passage)
    return Row(f"{row.number}-{row.document_id}", cells)


def _from_match(passage: str) -> str:
    """Return a passage from its first match on: a row has no room for more."""
    before, mark, rest = passage.partition("«")
    return f"… {mark}{rest}" if mark and before else passage
