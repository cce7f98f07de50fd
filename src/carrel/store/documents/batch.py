"""OCR of many documents: each is an item of Activity, and its pages are cached."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from carrel.pages.errors import NoPicture
from carrel.store.activity.service import ActivityEntry
from carrel.store.activity.uploads import retry_while_lost
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import Problem
from carrel.store.documents.reader import OCR, DocumentReader, OCROptions, ocr_needs
from carrel.store.documents.remembered import RememberedOptions
from carrel.store.journal.entries import Entry
from carrel.store.shared import Area, Shared


@dataclass(frozen=True, slots=True)
class OCRBatchState:
    """Failures of the last OCR of many documents: names and reasons in order."""

    failed: tuple[tuple[str, Problem], ...] = ()
    error: Problem | None = None


class OCRBatchService(Area, Service[OCRBatchState]):
    def __init__(self, shared: Shared, remembered: RememberedOptions) -> None:
        super().__init__(shared, OCRBatchState())
        self._remembered = remembered
        self._reader = DocumentReader(shared.session, shared.results)
        shared.activity.set_task(OCR, self._read_left)

    @action(Policy.BESIDE)
    async def read(
        self, sources: Sequence[DocumentSource], options: OCROptions | None = None
    ) -> int:
        """Read documents one after the other; return the number read completely.

        By default each is read with the last options for its kind.

        A failure, or a cancellation in Activity, does not stop the others.
        """
        self.slice.set(failed=(), error=None)
        chosen = [options or self._remembered.of(source.name) for source in sources]
        handles = [self._begin(*each) for each in zip(sources, chosen, strict=True)]
        try:
            await asyncio.gather(*(handle.settled() for handle in handles))
        except asyncio.CancelledError:
            for handle in handles:
                handle.cancel()
            raise
        named = zip(sources, handles, strict=True)
        failed = tuple((source.name, handle.error) for source, handle in named if handle.error)
        self.slice.set(failed=failed, error=None)
        done = sum(handle.outcome == "done" for handle in handles)
        words = f"{done} of {len(sources)} read."
        if failed:
            names = ", ".join(name for name, _ in failed[:3])
            words = f"{done} of {len(sources)} read; failed: {names}"
            words += f" and {len(failed) - 3} more." if len(failed) > 3 else "."
        self._notifications.notify(words, "error" if failed else "info")
        return done

    def _begin(
        self, source: DocumentSource, options: OCROptions, left: Entry | None = None
    ) -> Handle[None]:
        return self._activity.run(
            "ocr",
            source.name,
            lambda entry: self._read_one(source, options, entry),
            left,
            unit="pages",
            subject=source.id,
            task=OCR,
            needs=ocr_needs(source, options),
        )

    def _read_left(self, entry: Entry) -> Handle[None]:
        source = DocumentSource(**entry.needs["source"])
        return self._begin(source, OCROptions(**entry.needs["options"]), entry)

    @action(Policy.QUEUE)
    async def _read_one(
        self, source: DocumentSource, options: OCROptions, entry: ActivityEntry
    ) -> None:
        await entry.secure()
        await retry_while_lost(
            self._session, entry, partial(self._read_pages, source, options, entry)
        )

    async def _read_pages(
        self, source: DocumentSource, options: OCROptions, entry: ActivityEntry
    ) -> None:
        copy = await self._copies.fetch(source)
        key = self._reader.key(copy, options)
        with self._reader.results.reading(key) as reading:
            kept = await self._reader.results.load(key)
            try:
                count: int | None = await self._renderer.page_count(copy.path)
            except NoPicture:
                count = kept.page_count
            entry.progress(len(kept.pages), count)
            if count is None:
                read = await self._reader.read_whole(source, reading, options)
                entry.progress(len(read.pages), len(read.pages))
                await self._reader.note(source, key, len(read.pages), len(read.pages))
                return
            wanted = options.wanted_pages(count) or []
            done = {*kept.pages}
            unread = lambda: [number for number in wanted if number not in done]  # noqa: E731
            async for answer in self._reader.read(source, reading, options, unread):
                done |= answer.pages.keys()
                entry.progress(len(done), count)
                await self._reader.note(source, key, len(done), count)
