"""The details of a document, a library, or a search hit."""

import time

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel.store.libraries.formatting import HitRow, document_facts, document_status, library_facts
from carrel.store.libraries.phase import document_phase
from carrel.tui.theme import labels
from carrel.wire.documents import Document
from carrel.wire.libraries import Library

TEXT_SHOWN = 20_000
"""Most characters of a document's text shown here; the document itself has all of it."""


class LibraryDetails(VerticalScroll):
    """Names and values, the summary, and the text once loaded."""

    def compose(self) -> ComposeResult:
        yield Static()

    def on_mount(self) -> None:
        self.border_title = labels.title("Details")

    def show_hit(self, hit: HitRow | None) -> None:
        """Show a passage with its matches highlighted."""
        if hit is None:
            self._put()
            return
        page = labels.muted(f"page {hit.page}" if hit.page else "")
        how = labels.muted("enter opens it there")
        name = labels.line(hit.name, "bold")
        self._put(name, page, Content(""), labels.highlight(hit.passage), Content(""), how)

    def show_library(self, library: Library) -> None:
        """Show the details of a library."""
        facts = _fields(library_facts(library, time.time()))
        parts = labels.card(library.name, library.id, facts)
        if library.description:
            parts += [Content(""), labels.block(library.description)]
        self._put(*parts)

    def show_document(self, document: Document | None, text: str | None) -> None:
        """Show the details of a document, and its text if loaded."""
        if document is None:
            self._put()
            return
        status = ("Status", labels.badge(document_status(document)))
        facts = _fields(document_facts(document, time.time()), status)
        parts = labels.card(document.name, document.id, facts)
        if document.error:
            parts += [Content(""), labels.block(document.error, "$failed")]
        if document.summary:
            parts += _part("Summary", document.summary)
        if document_phase(document) == "failed":
            parts += [Content(""), labels.muted("R processes it again")]
        elif text is None:
            parts += [Content(""), labels.muted("v shows the text, enter opens it")]
        else:
            parts += _part("Text", text[:TEXT_SHOWN])
            if len(text) > TEXT_SHOWN:
                parts.append(labels.muted("… enter opens the whole document"))
        self._put(*parts)

    def _put(self, *parts: Content) -> None:
        self.query_one(Static).update(Content("\n").join(parts))


def _part(name: str, text: str) -> list[Content]:
    return [Content(""), labels.muted(name), labels.block(text)]


def _fields(facts: tuple[tuple[str, str], ...], *first: tuple[str, Content]) -> Content:
    return labels.fields(*first, *((name, labels.line(value)) for name, value in facts))
