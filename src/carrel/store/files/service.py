"""Files: the list, uploads and downloads, signed addresses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from carrel.filenames import file_name, free
from carrel.store.activity.notifications import NotificationsService
from carrel.store.activity.service import ActivityService, Entry
from carrel.store.activity.uploads import through
from carrel.store.cache.readings import Reading, Readings
from carrel.store.core.action import Policy, action, instant
from carrel.store.core.deleting import delete_each
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.marking import toggled, without
from carrel.store.core.paging import Seen, last_page, with_page
from carrel.store.core.problem import Problem
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService
from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.wire.files import File, FileList, Purpose, Source

UploadSource: TypeAlias = Path | tuple[str, int, AsyncIterable[bytes]]
"""A file on this machine, or a name, a size in bytes, and the bytes; a retry asks for them anew."""

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
TYPES: Mapping[str, tuple[str, ...]] = {
    "PDF": ("application/pdf",),
    "picture": (
        "image/png",
        "image/jpeg",
        "image/tiff",
        "image/webp",
        "image/gif",
        "image/bmp",
        "image/heic",
        "image/heif",
        "image/avif",
        "image/svg+xml",
    ),
    "office": (
        f"{_OFFICE}.wordprocessingml.document",
        f"{_OFFICE}.presentationml.presentation",
        f"{_OFFICE}.spreadsheetml.sheet",
        f"{_OPEN}.text",
        f"{_OPEN}.presentation",
        f"{_OPEN}.spreadsheet",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/rtf",
    ),
    "text": ("text/plain", "text/markdown", "text/html", "text/csv", "text/x-rst"),
    "JSONL": ("application/jsonl", "application/x-ndjson"),
    "JSON": ("application/json",),
    "mail": ("message/rfc822", "application/vnd.ms-outlook"),
}
"""Kinds of files that a list can be narrowed to, and the media types that belong to each."""


def source_name(source: UploadSource) -> str:
    """What an upload is called."""
    return clean_text(source.name if isinstance(source, Path) else source[0])


def expanded(source: UploadSource) -> UploadSource:
    """The source with `~` filled in."""
    return source.expanduser() if isinstance(source, Path) else source


@dataclass(frozen=True, slots=True)
class FilesState:
    """A page of the files, and the pages seen before. Pages count from 0.

    `search` is a part of the name; a word in it after a `!` must not be in the name. `type` is
    one of TYPES. `marked` has the marked files by id, also those of other pages.
    """

    items: tuple[File, ...] = ()
    total: int | None = None
    page: int = 0
    page_size: int = 50
    seen: Seen[File] = field(default_factory=dict, repr=False)
    search: str = ""
    purpose: Purpose | None = None
    source: Source | None = None
    type: str | None = None
    selected: str | None = None
    marked: Mapping[str, File] = field(default_factory=dict, repr=False)
    readings: Mapping[str, Reading] = field(default_factory=dict, repr=False)
    """How far files were read, in earlier runs too, by their ids."""
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None

    @property
    def narrowed(self) -> bool:
        """Whether some files are not shown."""
        return bool(self.search or self.purpose or self.source or self.type)

    @property
    def last_page(self) -> int:
        """The number of the last page."""
        return last_page(self.total, self.page_size)

    def at(self, index: int) -> File | None:
        """The file in this place of the whole list, if it was seen."""
        page, row = divmod(index, self.page_size)
        items = self.items if page == self.page else self.seen.get(page, ())
        return items[row] if row < len(items) else None

    def find(self, file_id: str | None) -> File | None:
        """A file that was seen."""
        pages = (self.items, *self.seen.values())
        return next((file for items in pages for file in items if file.id == file_id), None)


class FilesService(Area[FilesState]):
    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        activity: ActivityService,
        notifications: NotificationsService,
    ) -> None:
        super().__init__(loop, FilesState(), session)
        self._activity = activity
        self._notifications = notifications
        self._readings = Readings(session.slice.value.profile)

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Loads the page that is shown once more."""
        await self._load(self.slice.value.page)

    @action(Policy.RENEW, lane="load")
    async def reload(self) -> None:
        """Loads the same after something has changed: a load that began before is not enough."""
        await self._load(self.slice.value.page)

    @action(Policy.LATEST, lane="load")
    async def load_page(self, page: int) -> None:
        """Loads a page and shows it."""
        await self._load(page)

    @action(Policy.LATEST, lane="load")
    async def search(self, text: str) -> None:
        """Shows only files whose name has `text` in it, and no word after a `!`; "" shows all."""
        self.slice.set(search=text, seen={})
        await self._load(0)

    @action(Policy.LATEST, lane="load")
    async def narrow(
        self,
        purpose: Purpose | None = None,
        source: Source | None = None,
        type: str | None = None,
    ) -> None:
        """Shows only files of a purpose, a source and one of TYPES; None means any."""
        self.slice.set(purpose=purpose, source=source, type=type, seen={})
        await self._load(0)

    @action(Policy.LATEST, lane="load")
    async def show_all(self) -> None:
        """Ends the search, and shows files of every kind."""
        self.slice.set(search="", purpose=None, source=None, type=None, seen={})
        await self._load(0)

    @instant
    def select(self, file_id: str | None) -> None:
        """Makes a file the selected one."""
        self.slice.set(selected=file_id)

    @instant
    def mark(self, file_id: str) -> None:
        """Marks a file that was seen, or takes its mark away."""
        state = self.slice.value
        self.slice.set(marked=toggled(state.marked, file_id, state.find(file_id)))

    @instant
    def mark_none(self) -> None:
        """Takes every mark away."""
        self.slice.set(marked={})

    @action(Policy.QUEUE, changes=True)
    def delete(self, file_ids: Iterable[str]) -> Coroutine[Any, Any, int]:
        """Deletes files and gives their number. Those already gone count as deleted."""
        state = self.slice.value
        known = {id: state.marked.get(id) or state.find(id) for id in file_ids}
        return self._delete({id: file.filename if file else id for id, file in known.items()})

    async def _delete(self, names: Mapping[str, str]) -> int:
        client = await self._session.client()
        with self._loading():
            try:
                deleted = await delete_each(names, client.files.delete, self._forget)
            finally:
                self.reload()
        self._notifications.notify(deleted.words("file", "files"))
        deleted.check("file", "files")
        return deleted.done

    def upload(self, source: UploadSource, *, purpose: Purpose | None = None) -> Handle[File]:
        """Uploads a file; its progress is in the activity."""
        entry = self._activity.begin("upload", source_name(source))
        return entry.follow(
            self._upload(source, purpose, entry), lambda: self.upload(source, purpose=purpose)
        )

    def download(self, file_id: str, to: Path) -> Handle[Path]:
        """Saves a file at `to`, or under its own name where `to` is a folder.

        Nothing is overwritten: a name that is taken gets a number.
        """
        known = self.slice.value.find(file_id)
        name = known.filename if known else file_id
        entry = self._activity.begin("download", name, subject=file_id)
        return entry.follow(
            self._download(file_id, to.expanduser(), name, entry),
            lambda: self.download(file_id, to),
        )

    @action(Policy.LATEST)
    async def signed_url(self, file_id: str, hours: int = 24) -> str:
        """An address that gives the file without a key, for 1 to 168 hours."""
        client = await self._session.client()
        return (await client.files.url(file_id, hours)).url

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _upload(self, source: UploadSource, purpose: Purpose | None, entry: Entry) -> File:
        async def send() -> File:
            client = await self._session.client()
            entry.progress(0)
            return await client.files.upload(
                expanded(source), purpose=purpose, on_progress=entry.progress
            )

        file = await through(self._session, entry, send)
        entry.about(file.id)
        self._notifications.notify(f"Uploaded {file.filename}.")
        self.reload()
        return file

    @action(Policy.QUEUE, lane="download")
    async def _download(self, file_id: str, to: Path, name: str, entry: Entry) -> Path:
        client = await self._session.client()
        entry.progress(0)
        place = await asyncio.to_thread(_place, to, name, file_id)
        path = await client.files.download(file_id, place, on_progress=entry.progress)
        self._notifications.notify(f"Saved {path.name}.")
        return path

    async def _load(self, page: int) -> None:
        with self._loading():
            found = await self._list(page)
            readings = await self._readings.load()
            last = last_page(found.total, self.slice.value.page_size)
            if not found.data and page > last:
                # The last files of the last page are gone.
                page = last
                found = await self._list(page)
        state, items = self.slice.value, tuple(found.data)
        # Where the list has changed, every page has other files.
        same = found.total is None or found.total == state.total
        seen = with_page(state.seen if same else {}, page, items)
        self.slice.set(
            items=items, total=found.total, page=page, seen=seen, readings=readings, loaded=True
        )
        if self.slice.value.find(state.selected) is None:
            self.slice.set(selected=items[0].id if items else None)

    async def _list(self, page: int) -> FileList:
        client, state = await self._session.client(), self.slice.value
        return await client.files.list(
            page=page,
            page_size=state.page_size,
            search=_wanted(state.search) or None,
            purpose=state.purpose,
            source=[state.source] if state.source else None,
            mimetypes=list(TYPES[state.type]) if state.type else None,
        )

    def _forget(self, file_id: str) -> None:
        state = self.slice.value
        self.slice.set(
            items=tuple(file for file in state.items if file.id != file_id),
            seen={},
            total=None if state.total is None else max(0, state.total - 1),
            marked=without(state.marked, file_id),
        )


def _place(to: Path, name: str, file_id: str) -> Path:
    """Where a file of this name is saved: at `to`, or in there."""
    return free(to / file_name(name, file_id) if to.is_dir() else to)


def _wanted(text: str) -> str:
    """What a search asks the service for: it knows no words that must not be there."""
    return " ".join(word for word in text.split() if not word.startswith("!"))
