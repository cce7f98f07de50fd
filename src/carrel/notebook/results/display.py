"""Compact tables in a cell for the service's objects."""

from collections.abc import Sequence
from html import escape
from types import MethodType

from IPython.core.getipython import get_ipython
from pydantic import BaseModel

from carrel.notebook.cells.wait import call_words
from carrel.notebook.html.tables import table
from carrel.store.agents.compare import compare_agents
from carrel.store.agents.drafts import Draft, nobody
from carrel.wire.documents import Document, DocumentList
from carrel.wire.files import File, FileList, RetrievedFile
from carrel.wire.generation.agents import Agent
from carrel.wire.libraries import Library, LibraryList

_SHOWN: dict[type[BaseModel], tuple[str, ...]] = {
    File: ("filename", "purpose", "bytes", "id"),
    RetrievedFile: ("filename", "purpose", "bytes", "id"),
    Library: ("name", "nb_documents", "id"),
    Document: ("name", "process_status", "number_of_pages", "id"),
    Agent: ("name", "version", "model", "id"),
}
FIELD = ("field", "value")
_LISTS = (FileList, LibraryList, DocumentList)


def register(bench: type) -> None:
    """Register the tables, and the calls of a bench, with IPython; do nothing elsewhere."""
    shell = get_ipython()
    if shell is None or shell.display_formatter is None:
        return
    html = shell.display_formatter.formatters["text/html"]
    plain = shell.display_formatter.formatters["text/plain"]
    for kind in _SHOWN:
        html.for_type(kind, lambda one: _table([one]))
        plain.for_type(kind, lambda one, printer, _: printer.text(_line(one)))
    html.for_type(Draft, _draft_card)
    plain.for_type(Draft, lambda draft, printer, _: printer.text(_draft_line(draft)))
    plain.for_type(
        MethodType,
        lambda method, printer, _: printer.text(
            _call_line(method) if isinstance(method.__self__, bench) else repr(method)
        ),
    )
    for kind in _LISTS:
        html.for_type(kind, lambda page: _table(page.data))
        plain.for_type(kind, lambda page, printer, _: printer.text(_lines(page.data)))


def _call_line(method: MethodType) -> str:
    return f"bench.{method.__name__} takes parentheses: {call_words(method)}"


def _table(rows: Sequence[BaseModel]) -> str:
    if not rows:
        return "<p>nothing</p>"
    kind = type(rows[0])
    return table(kind.__name__, _SHOWN[kind], [list(_fields(row).values()) for row in rows])


def _lines(rows: Sequence[BaseModel]) -> str:
    return "\n".join(_line(row) for row in rows) or "nothing"


def _line(row: BaseModel) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in _fields(row).items())
    return f"{type(row).__name__}({fields})"


def _draft_line(draft: Draft) -> str:
    base = "a new agent" if draft.base is None else f"a change of v{draft.base}"
    return f"<Draft of {draft.name}: {base}, not saved>"


def _draft_card(draft: Draft) -> str:
    filled = compare_agents(nobody(), draft.preview(nobody()))
    rows = [[one.field, one.new] for one in filled if one.new and one.field != "name"]
    return f"<p>{escape(_draft_line(draft).strip('<>'))}</p>{table('Draft', FIELD, rows)}"


def _fields(row: BaseModel) -> dict[str, object]:
    return {name: getattr(row, name) for name in _SHOWN[type(row)]}
