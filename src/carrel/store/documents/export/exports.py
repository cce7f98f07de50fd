"""Exports of documents, each a task of the activity that a later process can resume."""

import asyncio
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.store.activity.service import ActivityEntry
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import ProblemError
from carrel.store.documents.corrections import SavedCorrections
from carrel.store.documents.export import formats
from carrel.store.documents.pictures import Pictures
from carrel.store.documents.reader import DocumentReader, OCROptions, ocr_needs
from carrel.store.documents.state import DocumentState, OpenedDocument
from carrel.store.journal.entries import Entry
from carrel.store.shared import Shared

EXPORT = "export a document"
"""Name of the task in the journal."""


@dataclass(frozen=True)
class Export:
    """An export of a document as it is in `state`, or as it was read last if not opened there."""

    source: DocumentSource
    state: DocumentState
    format: formats.ExportFormat
    to: Path


Save = Callable[[Export, ActivityEntry], Handle[tuple[Path, ...]]]


class Exports:
    def __init__(
        self,
        shared: Shared,
        reader: DocumentReader,
        corrections: SavedCorrections,
        pictures: Pictures,
        start: Save,
    ) -> None:
        """Take the parts to export from. `start` is the action that calls `save`."""
        self._activity = shared.activity
        self._copies = shared.copies
        self._reader = reader
        self._corrections = corrections
        self._pictures = pictures
        self._start = start
        shared.activity.set_task(EXPORT, self._resume)

    def begin(self, export: Export, left: Entry | None = None) -> Handle[tuple[Path, ...]]:
        """Start an export as an item of the activity."""
        needs = ocr_needs(export.source, export.state.options)
        needs |= {"format": export.format, "to": str(export.to)}
        start = functools.partial(self._start, export)
        return self._activity.run(
            "export", export.source.name, start, left, task=EXPORT, needs=needs
        )

    async def save(self, export: Export, entry: ActivityEntry) -> tuple[Path, ...]:
        """Write the files of an export and return their paths."""
        await entry.secure()
        state = export.state
        if state.opened is None:
            state = await self._last_read(export.source, state.options)
        made, written = await self.files(state, export.format), []
        size = sum(len(content) for _, content in made)
        entry.progress(0, size)
        paths = formats.write(export.to, made, again=entry.left)
        while path := await asyncio.to_thread(next, paths, None):
            written.append(path)
            entry.progress(sum(len(content) for _, content in made[: len(written)]), size)
        return tuple(written)

    async def files(
        self, state: DocumentState, format: formats.ExportFormat
    ) -> list[formats.NamedFile]:
        """Return the read pages as files."""
        pages = [page for page in state.pages if page is not None]
        if state.source is None or not pages:
            raise ProblemError("Nothing is read yet", advice="Wait for the first page.")
        document = formats.ReadDocument(
            state.source.name, pages, state.annotation, state.corrections
        )
        draw = functools.partial(self._pictures.draw, state)
        return await formats.files(document, format, draw)

    def _resume(self, entry: Entry) -> Handle[tuple[Path, ...]]:
        needs = entry.needs
        source = DocumentSource(**needs["source"])
        state = DocumentState(options=OCROptions(**needs["options"]))
        return self.begin(Export(source, state, needs["format"], Path(needs["to"])), entry)

    async def _last_read(self, source: DocumentSource, options: OCROptions) -> DocumentState:
        """Return a document as it was read last, without opening it."""
        copy = await self._copies.fetch(source)
        kept = await self._reader.results.load(self._reader.key(copy, options))
        return DocumentState(
            source=source,
            opened=OpenedDocument(source, copy),
            pages=tuple(page for _, page in sorted(kept.pages.items())),
            annotation=kept.annotation,
            options=options,
            corrections=await asyncio.to_thread(self._corrections.load, copy.hash),
        )
