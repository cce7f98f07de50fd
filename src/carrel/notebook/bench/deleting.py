"""Deletions by code that can be undone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from carrel.notebook.bench.names import Names
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import check_open, run, wait_for
from carrel.store.core.actions.handle import Handle
from carrel.store.core.naming import missing_problem
from carrel.store.store import Store
from carrel.wire.documents import Document
from carrel.wire.files import File
from carrel.wire.generation.agents import Agent
from carrel.wire.libraries import Library

Item = File | Library | Agent | Document


@dataclass(frozen=True)
class DeletedItem:
    """A deleted item; `undo()` restores it."""

    kind: str
    name: str
    id: str
    _store: Store = field(repr=False, compare=False)

    def undo(self, *, timeout: float | None = None) -> None:
        """Restore the item.

        Raises:
            BenchError: the service keeps no deleted items, or no longer keeps this one.
        """
        check_open(self._store)
        trash = self._store.trash
        wait_for(self._store, trash.load(), timeout)
        if wait_for(self._store, trash.restore([self.id]), timeout) == 0:
            raise BenchError(f"The {self.kind} “{self.name}” is not in the trash")

    def __repr__(self) -> str:
        return f"<Deleted {self.kind} “{self.name}”; .undo() brings it back>"


def find_item(store: Store, names: Names, item: str, library: str | Library | None) -> Item:
    """Return an item by name or id: a document of `library`, else a file, library or agent.

    Raises:
        BenchError: there is no such item, or more than one.
    """
    if library is not None:
        of = names.library(library).id
        return _find_only(item, "document", run(store, _documents(store, of)))
    files = run(store, _files(store))
    every: list[Item] = [
        *files,
        *wait_for(store, store.libraries.list_all()),
        *wait_for(store, store.agents.list_all()),
    ]
    return _find_only(item, "file, library or agent", every)


def delete(store: Store, item: Item, timeout: float | None) -> DeletedItem:
    """Delete an item."""
    kind, name, handle = _deletion(store, item)
    wait_for(store, handle, timeout)
    return DeletedItem(kind, name, item.id, store)


def _deletion(store: Store, item: Item) -> tuple[str, str, Handle[Any]]:
    match item:
        case File():
            return "file", item.filename, store.files.delete([item.id])
        case Library():
            return "library", item.name, store.libraries.delete([item.id])
        case Agent():
            return "agent", item.name, store.agents.delete(item.id)
        case Document():
            deletion = store.libraries.delete_documents(item.library_id, [item.id])
            return "document", item.name, deletion
    raise BenchError(
        f"bench.delete cannot take a value of type {type(item).__name__}",
        "It takes a file, a library, an agent, a document, or the name or id of one.",
    )


def _find_only(name: str, kind: str, there: Sequence[Item]) -> Item:
    found = [one for one in there if name in (one.id, _name(one))]
    if len(found) > 1:
        ids = ", ".join(f"{type(one).__name__.lower()} {one.id}" for one in found)
        raise BenchError(f"More than one item is named “{name}”", ids, "Give the id.")
    if not found:
        raise BenchError(missing_problem(kind, name, map(_name, there)))
    return found[0]


def _name(item: Item) -> str:
    return item.filename if isinstance(item, File) else item.name


async def _files(store: Store) -> list[File]:
    client = await store.session.client()
    return [one async for one in client.files.every()]


async def _documents(store: Store, library_id: str) -> list[Document]:
    client = await store.session.client()
    return [one async for one in client.documents.every(library_id)]
