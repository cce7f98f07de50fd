"""Files: the list, uploads, downloads and signed URLs."""

from __future__ import annotations

import asyncio
import filecmp
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.activity.service import ActivityEntry, Report
from carrel.store.activity.uploads import (
    UploadSource,
    describe_upload,
    expand_home,
    retry_while_lost,
    source_name,
)
from carrel.store.cache.last_seen import Seen
from carrel.store.cache.readings import Readings
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.handle import Handle
from carrel.store.core.deleting import delete_each
from carrel.store.core.formatting import count
from carrel.store.core.lists import Sort, invert, last_page, toggle, unmark, with_page, with_range
from carrel.store.files.formatting import negative_filter
from carrel.store.files.same import same_file
from carrel.store.files.state import TYPES, FilesState
from carrel.store.journal.entries import UPLOAD_FILE, Entry
from carrel.store.shared import Area, Shared
from carrel.system.filenames import file_name, free

if TYPE_CHECKING:
    from carrel.wire.files import File, FileList, Purpose, Source

    Marking = Callable[[Mapping[str, File], Mapping[str, File]], Mapping[str, File]]


ARRIVING = 2.0
"""Reload interval of the list in seconds while many files arrive."""
DOWNLOAD = "download a file"
"""Name of the download task in the journal."""


class FilesService(Area, Service[FilesState]):
    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, FilesState())
        self._readings = Readings(shared.profile)
        self._uploaded: list[str] = []  # names since no upload ran
        self._due = 0.0
        shared.activity.set_task(UPLOAD_FILE, self._upload_left)
        shared.activity.set_task(DOWNLOAD, self._download_left)

    @action(Policy.LATEST, lane="load")
    async def load_page(self, page: int) -> None:
        """Load a page and show it."""
        await self._load_page(page)

    @action(Policy.LATEST, lane="load")
    async def search(self, text: str) -> None:
        """Show only files whose name contains `text` and no word after a `!`; an empty text shows
        all."""
        self.slice.set(search=text, seen={})
        await self._load_page(0)

    @action(Policy.LATEST, lane="load")
    async def narrow(
        self, purpose: Purpose | None = None, source: Source | None = None, type: str | None = None
    ) -> None:
        """Show only files of a purpose, a source and one of TYPES; None means any."""
        self.slice.set(purpose=purpose, source=source, type=type, seen={})
        await self._load_page(0)

    @action(Policy.LATEST, lane="load")
    async def show_all(self) -> None:
        """End the search and remove all filters."""
        self.slice.set(search="", purpose=None, source=None, type=None, seen={})
        await self._load_page(0)

    @action(Policy.LATEST, lane="load")
    async def sort(self, sort: Sort | None) -> None:
        """Sort the files by a column of FILE_ORDERS, or in the service's own order with None."""
        self.slice.set(sort=sort)
        await self._load_page(0)

    @instant
    def select(self, file_id: str | None) -> None:
        """Make a file the selected one."""
        self.slice.set(selected=file_id)

    @instant
    def mark(self, file_id: str) -> None:
        """Toggle the mark of a file in the cached pages."""
        state = self.slice.value
        self.slice.set(marked=toggle(state.marked, file_id, state.find(file_id)))

    @instant
    def mark_range(self, file_ids: Iterable[str]) -> None:
        """Mark several files of the cached pages."""
        state = self.slice.value
        self.slice.set(marked=with_range(state.marked, file_ids, state.find))

    @instant
    def mark_none(self) -> None:
        """Remove all marks."""
        self.slice.set(marked={})

    @action(Policy.LATEST, lane="marks")
    async def mark_all(self) -> None:
        """Mark all files that match the search and the filters."""
        await self._mark(lambda marked, listed: {**marked, **listed})

    @action(Policy.LATEST, lane="marks")
    async def invert_marks(self) -> None:
        """Invert the marks of the listed files."""
        await self._mark(invert)

    async def _mark(self, change: Marking) -> None:
        before = self._filters()
        with self._set_loading():
            listed = await self._list_all()
        if self._filters() == before:
            self.slice.set(marked=change(self.slice.value.marked, listed))

    def _filters(self) -> tuple[object, ...]:
        state = self.slice.value
        return (state.search, state.purpose, state.source, state.type)

    async def _list_all(self) -> Mapping[str, File]:
        """Return all files of the list by id, on all pages."""
        wanted = negative_filter(self.slice.value)
        files: list[File] = []
        page = 0
        while found := (await self._list(page)).value.data:
            files += found
            page += 1
            if len(found) < self.slice.value.page_size:
                break
        return {file.id: file for file in files if wanted.matches(file.filename)}

    def delete(self, file_ids: Iterable[str]) -> Handle[int]:
        """Delete files and return their number. Missing ones count as deleted.

        The deletion of several shows its progress in the activity.
        """
        known = {id: self._find(id) for id in file_ids}
        names = {id: file.filename if file else id for id, file in known.items()}
        return self._activity.deletion(names, "files", lambda report: self._delete(names, report))

    @action(Policy.QUEUE, lane="delete", changes=True)
    async def _delete(self, names: Mapping[str, str], report: Report) -> int:
        client = await self._session.client()
        with self._set_loading():
            try:
                deleted = await delete_each(names, client.files.delete, self._forget, report)
            finally:
                self.reload()
        self._trash.note_deletion("files", deleted, ("file", "files"), self.reload)
        deleted.check("file", "files")
        return deleted.done

    def upload(
        self,
        source: UploadSource,
        *,
        purpose: Purpose | None = None,
        once: bool = False,
        left: Entry | None = None,
    ) -> Handle[File]:
        """Upload a file; its progress is in the activity.

        With `once`, a file of this name and content that is there already is not sent again.
        `left` is the upload of an earlier start that this one continues.
        """
        task, needs = describe_upload(source, UPLOAD_FILE)
        needs["purpose"] = purpose

        def send(entry: ActivityEntry) -> Handle[File]:
            sent = self._upload(source, purpose, entry, once)
            sent.add_done_callback(lambda _: self._show_arrived())
            return sent

        return self._activity.run("upload", source_name(source), send, left, task=task, needs=needs)

    def _upload_left(self, left: Entry) -> Handle[File]:
        path, purpose = Path(left.needs["path"]), left.needs.get("purpose")
        return self.upload(path, purpose=purpose, once=True, left=left)

    def _download_left(self, left: Entry) -> Handle[Path]:
        return self.download(left.subject or "", Path(left.needs["to"]), left.name, left)

    def download(
        self, file_id: str, to: Path, name: str | None = None, left: Entry | None = None
    ) -> Handle[Path]:
        """Save a file at `to`, or in the folder `to` under its own name.

        Nothing is overwritten: a taken name gets a number. An unlisted file needs a `name`. `left`
        is the download of an earlier start that this one continues.
        """
        known, path = self._find(file_id), to.expanduser().absolute()
        shown = name or (known.filename if known else file_id)
        return self._activity.run(
            "download",
            shown,
            lambda entry: self._download(file_id, path, shown, entry),
            left,
            subject=file_id,
            task=DOWNLOAD,
            needs={"to": str(path)},
        )

    def _find(self, file_id: str) -> File | None:
        """Return a file of the shown pages, or a marked one of any page, or None."""
        state = self.slice.value
        return state.find(file_id) or state.marked.get(file_id)

    @action(Policy.LATEST)
    async def signed_url(self, file_id: str, hours: int = 24) -> str:
        """Return a signed URL of the file, valid for 1 to 168 hours."""
        client = await self._session.client()
        return (await client.files.url(file_id, hours)).url

    @action(Policy.QUEUE, lane="upload", changes=True)
    async def _upload(
        self, source: UploadSource, purpose: Purpose | None, entry: ActivityEntry, once: bool
    ) -> File:
        await entry.secure()
        may_be_there = once or entry.left

        async def send() -> File:
            nonlocal may_be_there
            client = await self._session.client()
            entry.progress(0)
            if may_be_there and (there := await same_file(client, source)):
                return there
            # The file may arrive although the answer is lost.
            may_be_there = True
            return await client.files.upload(
                expand_home(source), purpose=purpose, on_progress=entry.progress
            )

        file = await retry_while_lost(self._session, entry, send)
        entry.set_subject(file.id)
        self._uploaded.append(file.filename)
        return file

    @action(Policy.RENEW)
    async def _show_arrived(self) -> None:
        """Reload the list, rate-limited while many files arrive; then say so after the last one."""
        uploads, now = self._lane("upload"), time.monotonic()
        if not self._uploaded or (uploads.busy and now < self._due):
            return
        self._due = now + ARRIVING
        names: list[str] = []
        if not uploads.busy:
            names, self._uploaded = self._uploaded, []
        await self.reload().settled()
        if names:
            words = names[0] if len(names) == 1 else f"{count(len(names))} files"
            self._notifications.notify(f"Uploaded {words}.")

    @action(Policy.QUEUE, lane="download")
    async def _download(self, file_id: str, to: Path, name: str, entry: ActivityEntry) -> Path:
        await entry.secure()
        place = await asyncio.to_thread(_place, to, name, file_id)

        async def fetch() -> Path:
            client = await self._session.client()
            entry.progress(0)
            return await client.files.download(file_id, place, on_progress=entry.progress)

        path = await retry_while_lost(self._session, entry, fetch)
        if entry.left:
            path = await asyncio.to_thread(_keep_one, path, to, name, file_id)
        self._notifications.notify(f"Saved {path.name}.")
        return path

    async def _load(self) -> None:
        await self._load_page(self.slice.value.page)

    async def _load_page(self, page: int) -> None:
        with self._set_loading():
            seen = await self._list(page)
            found = seen.value
            readings = await self._readings.load()
            last = last_page(found.total, self.slice.value.page_size)
            if not found.data and page > last:
                # The last page became empty.
                page = last
                seen = await self._list(page)
                found = seen.value
        state, items = self.slice.value, tuple(found.data)
        # A changed list shifts the items of cached pages.
        same = found.total is None or found.total == state.total
        self.slice.set(
            items=items,
            total=found.total,
            page=page,
            seen=with_page(state.seen if same else {}, page, items),
            readings=readings,
            as_of=seen.as_of,
            loaded=True,
        )
        if self.slice.value.find(state.selected) is None:
            self.slice.set(selected=items[0].id if items else None)
        if self.slice.value.sort is not None:
            await self._load_missing()

    async def _load_missing(self) -> None:
        """Load the other pages: only loaded files can be sorted."""
        with self._set_loading():
            while (page := self.slice.value.missing) is not None:
                found = (await self._list(page)).value
                self.slice.set(seen=with_page(self.slice.value.seen, page, tuple(found.data)))

    async def _list(self, page: int) -> Seen[FileList]:
        from carrel.wire.files import FileList

        state = self.slice.value
        size, search = state.page_size, _drop_negations(state.search)
        return await self._last_seen.ask(
            f"files {(page, size, search, state.purpose, state.source, state.type)}",
            FileList,
            lambda client: client.files.list(
                page=page,
                page_size=size,
                search=search or None,
                purpose=state.purpose,
                source=[state.source] if state.source else None,
                mimetypes=list(TYPES[state.type]) if state.type else None,
            ),
        )

    def _forget(self, file_id: str) -> None:
        state = self.slice.value
        self.slice.set(
            items=tuple(file for file in state.items if file.id != file_id),
            seen={},
            total=None if state.total is None else max(0, state.total - 1),
            marked=unmark(state.marked, file_id),
        )


def _place(to: Path, name: str, file_id: str) -> Path:
    """Return the path to save a file at: `to`, or inside of that folder."""
    return free(to / file_name(name, file_id) if to.is_dir() else to)


def _keep_one(path: Path, to: Path, name: str, file_id: str) -> Path:
    """Return the copy that an earlier start saved without noting it, and remove the one at
    `path`."""
    earlier = to / file_name(name, file_id) if to.is_dir() else to
    if earlier == path or not earlier.is_file() or not filecmp.cmp(earlier, path, shallow=False):
        return path
    path.unlink()
    return earlier


def _drop_negations(text: str) -> str:
    """Return the part of a search that the service supports, without words after a `!`."""
    return " ".join(word for word in text.split() if not word.startswith("!"))
