"""Files: the list, uploads and downloads, signed addresses."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from carrel.store.action import Policy, action
from carrel.store.activity import ActivityService, Entry
from carrel.store.area import Area
from carrel.store.handle import Handle
from carrel.store.loop import OwnerLoop
from carrel.store.notifications import NotificationsService
from carrel.store.problem import Problem
from carrel.store.selectors.words import one_line
from carrel.store.session import SessionService
from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.wire.files import File, FileList, Purpose

UploadSource: TypeAlias = Path | tuple[str, int, AsyncIterable[bytes]]
"""A file on this machine, or a name, a size in bytes, and the bytes."""


def source_name(source: UploadSource) -> str:
    """What an upload is called."""
    return clean_text(source.name if isinstance(source, Path) else source[0])


def expanded(source: UploadSource) -> UploadSource:
    """The source with `~` filled in."""
    return source.expanduser() if isinstance(source, Path) else source


@dataclass(frozen=True, slots=True)
class FilesState:
    """A page of the files. Pages count from 0; `marked` holds ids, also of other pages."""

    items: tuple[File, ...] = ()
    total: int | None = None
    page: int = 0
    page_size: int = 50
    search: str = ""
    selected: str | None = None
    marked: frozenset[str] = frozenset()
    loaded: bool = False
    loading: bool = False
    error: Problem | None = None
    # Works without a key until it expires: it must not reach a log.
    signed_url: str | None = field(default=None, repr=False)


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

    @action(Policy.LATEST)
    async def load(self, page: int | None = None) -> None:
        """Loads a page, or the same page again."""
        await self._load(self.slice.value.page if page is None else page)

    @action(Policy.LATEST, lane="load")
    async def search(self, text: str) -> None:
        """Shows only files whose name contains `text`; all for an empty text."""
        self.slice.set(search=text)
        await self._load(0)

    @action(Policy.QUEUE)
    async def select(self, file_id: str | None) -> None:
        """Makes a file the selected one."""
        self.slice.set(selected=file_id, signed_url=None)

    @action(Policy.QUEUE)
    async def mark(self, file_id: str) -> None:
        """Marks a file, or takes its mark away."""
        self.slice.set(marked=self.slice.value.marked ^ {file_id})

    @action(Policy.SINGLE, changes=True)
    async def delete(self, file_ids: Iterable[str]) -> int:
        """Deletes files and gives their number. Those already gone count as deleted."""
        from carrel.client.errors import NotFound

        client = await self._session.client()
        ids = tuple(file_ids)
        with self._loading():
            try:
                for file_id in ids:
                    with contextlib.suppress(NotFound):
                        await client.files.delete(file_id)
                    self._forget(file_id)
            finally:
                self.load()
        return len(ids)

    def upload(self, source: UploadSource, *, purpose: Purpose | None = None) -> Handle[File]:
        """Uploads a file; its progress is in the activity."""
        entry = self._activity.begin("upload", source_name(source))
        return entry.follow(self._upload(source, purpose, entry))

    def download(self, file_id: str, to: Path) -> Handle[Path]:
        """Saves a file at `to`, or under its own name where `to` is a folder."""
        known = next((file for file in self.slice.value.items if file.id == file_id), None)
        name = known.filename if known else file_id
        to = to.expanduser()
        if to.is_dir():
            to = to / _name_in_folder(name, file_id)
        entry = self._activity.begin("download", name, subject=file_id)
        return entry.follow(self._download(file_id, to, entry))

    @action(Policy.LATEST)
    async def signed_url(self, file_id: str, hours: int = 24) -> str:
        """An address that gives the file without a key, for 1 to 168 hours."""
        client = await self._session.client()
        url = (await client.files.url(file_id, hours)).url
        self.slice.set(signed_url=url)
        return url

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _upload(self, source: UploadSource, purpose: Purpose | None, entry: Entry) -> File:
        client = await self._session.client()
        entry.progress(0)
        file = await client.files.upload(
            expanded(source), purpose=purpose, on_progress=entry.progress
        )
        entry.about(file.id)
        self._notifications.notify(f"Uploaded {file.filename}.")
        self.load()
        return file

    @action(Policy.QUEUE, lane="download")
    async def _download(self, file_id: str, to: Path, entry: Entry) -> Path:
        client = await self._session.client()
        entry.progress(0)
        path = await client.files.download(file_id, to, on_progress=entry.progress)
        self._notifications.notify(f"Saved {path.name}.")
        return path

    async def _load(self, page: int) -> None:
        size = self.slice.value.page_size
        with self._loading():
            found = await self._list(page)
            pages = -(-(found.total or 0) // size)
            if not found.data and 0 < pages <= page:
                # The last files of the last page are gone.
                page = pages - 1
                found = await self._list(page)
        items = tuple(found.data)
        selected = self.slice.value.selected
        if selected not in {file.id for file in items}:
            selected = items[0].id if items else None
        self.slice.set(items=items, total=found.total, page=page, selected=selected, loaded=True)

    async def _list(self, page: int) -> FileList:
        client, state = await self._session.client(), self.slice.value
        return await client.files.list(
            page=page, page_size=state.page_size, search=state.search or None
        )

    def _forget(self, file_id: str) -> None:
        state = self.slice.value
        self.slice.set(
            items=tuple(file for file in state.items if file.id != file_id),
            total=None if state.total is None else max(0, state.total - 1),
            marked=state.marked - {file_id},
        )


def _name_in_folder(name: str, file_id: str) -> str:
    """A file's own name where it is one: what a service calls a file may lead anywhere."""
    last = one_line(name.replace("\\", "/").rpartition("/")[2])
    return file_id if last in ("", ".", "..") else last
