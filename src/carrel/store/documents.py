"""The open document: its pages as pictures and as text, read a few at a time."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from carrel.pages.errors import NoPicture
from carrel.pages.renderer import Renderer
from carrel.store.action import Policy, action
from carrel.store.activity import ActivityService, Entry
from carrel.store.area import Area
from carrel.store.handle import Handle
from carrel.store.loop import OwnerLoop
from carrel.store.problem import Problem, ProblemError
from carrel.store.session import SessionService

if TYPE_CHECKING:
    from carrel.wire.ocr import OCRDocument, Page

BATCH = 4
"""The most pages asked for at a time, after the first."""
BATCH_SECONDS = 2.0
"""Pages that take longer than this together are asked for in smaller batches."""
REMEMBERED = 16
"""Documents whose pages are kept after another is opened."""
CACHE_BYTES = 512 * 1024 * 1024
"""How large the folder of copies may grow before the oldest go."""
HOSTED_MODEL = "mistral-ocr-latest"
"""The name hosted services have for reading; the bundled server needs none."""

NOTHING_OPEN = Problem("Nothing is open", "", "Open a file or a document first.")


@dataclass(frozen=True, slots=True)
class Source:
    """What is opened: a file, or a document of a library."""

    kind: Literal["file", "document"]
    id: str
    name: str
    library_id: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The open document. Pages count from 0; one that is not read yet is None.

    `read` is the number of pages read, `started` when reading began (seconds since 1970) and
    `read_before` how many were read then,
    `picture_path` the copy that pictures are drawn from, `no_picture` why there are none.
    """

    source: Source | None = None
    page_count: int | None = None
    pages: tuple[Page | None, ...] = ()
    current: int = 0
    reading: bool = False
    read: int = 0
    read_before: int = 0
    started: float | None = None
    picture_path: Path | None = None
    no_picture: str | None = None
    loading: bool = False
    error: Problem | None = None

    @property
    def text(self) -> str | None:
        """The current page's Markdown, once it is read."""
        page = self.pages[self.current] if self.current < len(self.pages) else None
        return None if page is None else page.markdown


class DocumentsService(Area[DocumentState]):
    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        activity: ActivityService,
        renderer: Renderer,
    ) -> None:
        super().__init__(loop, DocumentState(), session)
        self._activity = activity
        self._renderer = renderer
        self._known: OrderedDict[Source, tuple[Page | None, ...]] = OrderedDict()

    @action(Policy.LATEST)
    async def open(self, source: Source, page: int = 0) -> None:
        """Opens a document at a page: copies it here, counts its pages, begins to read it."""
        self._lane("read").cancel()
        self.slice.put(DocumentState(source=source, current=max(0, page)))
        with self._loading():
            path = await self._copy(source)
            self.slice.set(picture_path=path)
            await self._count(source, path)
        if self.slice.value.read < (self.slice.value.page_count or 1):
            self.read()

    def read(self) -> Handle[None]:
        """Reads the pages that are not read yet, the current one first."""
        state = self.slice.value
        if state.source is None:
            return self._nothing_to_read()
        entry = self._activity.begin(
            "ocr", state.source.name, unit="pages", total=state.page_count, subject=state.source.id
        )
        return entry.follow(self._read(state.source, entry))

    @action(Policy.QUEUE)
    async def go(self, page: int) -> None:
        """Shows a page; one beyond the end is the last."""
        last = max(0, (self.slice.value.page_count or 1) - 1)
        self.slice.set(current=min(max(0, page), last))

    @action(Policy.QUEUE)
    async def stop(self) -> None:
        """Stops reading. Pages that are read stay."""
        self._lane("read").cancel()

    def picture(self, page: int, width: int) -> Handle[bytes]:
        """A page of the open document as PNG, `width` pixels wide."""
        return self._loop.run(self._picture(page, width))

    async def _copy(self, source: Source) -> Path:
        """The document's bytes on this machine, downloaded unless they are here already."""
        from carrel.config import folders

        key = f"{self._session.slice.value.profile}\0{source.id}"
        folder = folders().cache / "documents"
        path = folder / hashlib.sha256(key.encode()).hexdigest()[:32]
        if path.exists():
            path.touch()  # the oldest go first
            return path
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        client = await self._session.client()
        if source.kind == "file":
            await client.files.download(source.id, path)
        else:
            await client.documents.download(source.library_id or "", source.id, path)
        _make_room(folder, path)
        return path

    async def _count(self, source: Source, path: Path) -> None:
        known = self._known.get(source)
        try:
            count: int | None = await self._renderer.page_count(path)
        except NoPicture as error:
            self.slice.set(no_picture=str(error))
            count = None
        if known is None and count is not None:
            known = (None,) * count
        if known is not None:
            self._remember(source, known)
            self.slice.set(current=min(self.slice.value.current, max(0, len(known) - 1)))

    async def _picture(self, page: int, width: int) -> bytes:
        state = self.slice.value
        if state.picture_path is None or state.no_picture is not None:
            raise NoPicture(state.no_picture or "No document is open.")
        return await self._renderer.render(state.picture_path, page, width)

    @action(Policy.LATEST, lane="read")
    async def _nothing_to_read(self) -> None:
        raise ProblemError(NOTHING_OPEN)

    @action(Policy.LATEST, lane="read")
    async def _read(self, source: Source, entry: Entry) -> None:
        self.slice.set(
            reading=True, started=time.time(), read_before=self.slice.value.read, error=None
        )
        try:
            entry.progress(self.slice.value.read)
            if self.slice.value.page_count is None:
                self._remember(source, tuple(await self._ocr(source, None)))
            size = 1
            while batch := self._next_batch(size):
                began = time.monotonic()
                self._take_in(source, batch, await self._ocr(source, batch))
                a_page = (time.monotonic() - began) / len(batch)
                size = max(1, min(BATCH, int(BATCH_SECONDS / a_page)))
                state = self.slice.value
                entry.progress(state.read, state.page_count)
        finally:
            self.slice.set(reading=False)

    async def _document(self, source: Source) -> OCRDocument:
        """The document as a request for reading names it."""
        from carrel.wire.content import DocumentURLChunk, FileChunk

        if source.kind == "file":
            return FileChunk(file_id=source.id)
        client = await self._session.client()
        url = await client.documents.url(source.library_id or "", source.id)
        return DocumentURLChunk(document_url=url, document_name=source.name)

    def _next_batch(self, size: int) -> list[int]:
        """The next unread pages in a row, from the current one on and round to the first."""
        state = self.slice.value
        unread = [number for number, page in enumerate(state.pages) if page is None]
        ahead = [number for number in unread if number >= state.current] or unread
        return [number for place, number in enumerate(ahead[:size]) if number == ahead[0] + place]

    async def _ocr(self, source: Source, pages: list[int] | None) -> list[Page]:
        from carrel.wire.ocr import OCRRequest

        client = await self._session.client()
        hosted = self._session.slice.value.hosted
        request = OCRRequest(
            model=HOSTED_MODEL if hosted else None,
            # Named anew each time: a signed address may expire before the last page is read.
            document=await self._document(source),
            pages=None if pages is None else [*pages],
            include_blocks=True,
            confidence_scores_granularity="word",
        )
        return (await client.ocr.process(request)).pages

    def _take_in(self, source: Source, asked: list[int], found: list[Page]) -> None:
        pages = {page.index: page for page in found if page.index in asked}
        if not pages:
            raise ProblemError(
                Problem("Not read", f"The service did not read page {asked[0] + 1}.")
            )
        old = self.slice.value.pages
        self._remember(source, tuple(pages.get(number, page) for number, page in enumerate(old)))

    def _remember(self, source: Source, pages: tuple[Page | None, ...]) -> None:
        self._known[source] = pages
        self._known.move_to_end(source)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        read = sum(page is not None for page in pages)
        self.slice.set(pages=pages, read=read, page_count=len(pages))


def _make_room(folder: Path, newest: Path) -> None:
    """Removes the copies used longest ago until the folder is small enough."""
    copies = sorted(
        ((entry.stat().st_mtime, entry.stat().st_size, entry) for entry in folder.iterdir()),
        reverse=True,
    )
    total = 0
    for _, size, copy in copies:
        total += size
        if total > CACHE_BYTES and copy != newest:
            copy.unlink(missing_ok=True)
