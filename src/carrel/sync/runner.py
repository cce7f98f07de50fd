"""One sync of a folder to a library."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from carrel.client import Client
from carrel.client.http.errors import ClientError, ServiceError, UnreadableFile
from carrel.sync.contents import Contents, read_contents
from carrel.sync.errors import SyncError, TooManyDeletions
from carrel.sync.ledger import Ledger, LibraryMark, SyncedFolder, SyncSettings
from carrel.sync.plan import Known, Plan, Removal, Rename, Upload, document_name, make_plan
from carrel.sync.progress import PERIOD, Failure, Preview, Report, Summary, SyncProgress, Tally
from carrel.sync.remote import Remote, is_hopeless
from carrel.sync.rules import Rules
from carrel.sync.scan import Scan, scan

AT_ONCE = 6
"""Number of files uploaded concurrently."""


@dataclass
class _Look:
    """The folder and its documents as found by one sync, and the resulting plan.

    `present` are the ids of all documents of the library, `by_hash` those with a known hash;
    `foreign` are the names of those that the folder did not bring.
    """

    found: Scan
    contents: Contents
    known: dict[str, Known]
    plan: Plan
    present: set[str] = field(default_factory=set)
    by_hash: dict[str, str] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)

    @property
    def sizes(self) -> dict[str, int]:
        return {each.path: self.contents.files[each.path].stat.size for each in self.plan.uploads}


class Runner:
    """Syncs one folder with one library.

    `report` is called with the progress. `max_delete` limits the deletions of one sync; None means
    half of the documents from the folder.
    """

    def __init__(
        self,
        client: Client,
        ledger: Ledger,
        folder: SyncedFolder,
        settings: SyncSettings,
        report: Report = lambda progress: None,
        max_delete: int | None = None,
    ) -> None:
        self._ledger = ledger
        self.folder = folder
        self._settings = settings
        self._report = report
        self._remote = Remote(client, folder.library_id)
        self._max_delete = max_delete
        self._refused: dict[str, str] = {}
        self._held: set[str] | None = None

    async def preview(self) -> Preview:
        """Plan the changes that `run` would make now, without changing anything.

        Raises:
            SyncError, ClientError: the plan cannot be made.
        """
        look = await self._look()
        present = tuple(each.path for each in look.plan.uploads if each.hash in look.by_hash)
        new = tuple(each for each in look.plan.uploads if each.hash not in look.by_hash)
        look.plan = replace(look.plan, uploads=new)
        files = len(look.contents.files)
        failures = _failures(look.contents)
        left_out = dict(look.found.left_out)
        beside = frozenset(each.path for each in new if document_name(each.path) in look.foreign)
        return Preview(look.plan, present, look.sizes, failures, files, left_out, beside)

    async def run(self, *, hold: bool = False) -> Summary:
        """Run the sync. A file that fails does not stop the others.

        Deletions above the limit end it before any change. With `hold` they are postponed, in every
        later run too, and the other changes are made.

        Raises:
            TooManyDeletions: the deletions exceed the limit.
            SyncError, ClientError: the sync cannot continue; finished work is recorded.
        """
        if hold and self._held is None:
            self._held = set()
        with self._ledger.lock(self.folder):
            self._ledger.record_start(self.folder, self._settings)
            look = await self._look()
            tally = Tally(look.plan, look.sizes, self._report)
            if look.plan:
                if look.plan.deletions and not look.contents.files:
                    raise SyncError(
                        f"{self.folder.path} has no files to sync, so nothing was deleted: "
                        "perhaps its disk is not there. To empty the library, delete its documents."
                    )
                if look.plan.excessive:
                    plan = look.plan
                    raise TooManyDeletions(len(plan.deletions), plan.brought, plan.limit)
                # If this is interrupted, the next sync must list the whole library.
                self._ledger.set_mark(self.folder, None)
                await self._carry_out(look, tally)
                self._ledger.set_mark(self.folder, await self._mark_if_alone(look))
            self._ledger.record_end(self.folder, time.time())
        return Summary(
            files=len(look.contents.files),
            found=tally.found,
            uploaded=tally.uploaded,
            updated=tally.updated,
            renamed=tally.renamed,
            deleted=tally.deleted,
            kept=len(look.plan.kept),
            left_out=len(look.plan.left_out),
            held=len(look.plan.held),
            bytes=tally.bytes,
            failures=(*tally.failures, *_failures(look.contents)),
        )

    # Comparison

    async def _look(self) -> _Look:
        """Compare the folder with its last sync, and the result with the library."""
        settings, folder = self._settings, self.folder
        self._report(SyncProgress())
        rules = Rules.of(settings.include, settings.exclude)
        before = self._ledger.files(folder)
        found = await asyncio.to_thread(scan, folder.path, rules)
        limit = await self._remote.limit(stat.size for stat in found.files.values())
        if limit is not None:
            found = found.refuse_above(limit)
        contents = await read_contents(folder.path, found, before, self._report_looks())
        # Later rules may include these again.
        spared = {path: each for path, each in before.items() if found.reason(path)}
        self._ledger.set_files(folder, before, {**spared, **contents.files})
        known = self._ledger.documents(folder)
        look = _Look(found, contents, known, Plan())
        look.plan = self._plan(look)
        if not folder.library_id:
            return look
        mark = None if look.plan else await self._remote.mark()
        if mark is None or mark != self._ledger.mark(folder):
            await self._compare(look, mark)
        return look

    async def _compare(self, look: _Look, mark: LibraryMark | None) -> None:
        """Apply the library's changes by others since this mark."""
        documents = await self._remote.documents()
        look.present = {document.id for document in documents}
        look.by_hash = {document.hash: document.id for document in documents if document.hash}
        lost = await self._find_lost(look)
        if lost:
            self._ledger.drop(self.folder, lost)
            for hash in lost:
                del look.known[hash]
            look.plan = self._plan(look)
        brought = {each.document_id for each in look.known.values() if each.own}
        look.foreign = {document.name for document in documents if document.id not in brought}
        if not look.plan:
            self._ledger.set_mark(self.folder, mark)

    async def _find_lost(self, look: _Look) -> list[str]:
        """Return the contents whose documents were deleted by others.

        Each missing document is checked: a listing misses one that moves between its pages.
        """
        lost: list[str] = []

        async def check(hash: str, document_id: str) -> None:
            if await self._remote.has(document_id):
                look.present.add(document_id)
            else:
                lost.append(hash)

        await _run_all(
            check(hash, one.document_id)
            for hash, one in look.known.items()
            if one.document_id not in look.present
        )
        return lost

    async def _mark_if_alone(self, look: _Look) -> LibraryMark | None:
        """Return the library's mark, or None if others changed the library meanwhile."""
        mark = await self._remote.mark()
        mine = mark.documents == len(look.present) and mark.newest in {None, *look.present}
        return mark if mine else None

    def _plan(self, look: _Look) -> Plan:
        names = {each.name for each in look.known.values()} - look.contents.files.keys()
        plan = make_plan(
            look.contents.hashes,
            look.known,
            delete=self._settings.delete,
            delete_excluded=self._settings.delete_excluded,
            left_out={name: why for name in names if (why := look.found.reason(name))},
            unknown={name: why for name in names if (why := look.contents.problem(name))},
            max_delete=self._max_delete,
        )
        if self._held is None:
            return plan
        gone = {each.hash for each in plan.deletions}
        self._held = gone if plan.excessive else self._held & gone
        return plan.hold(self._held)

    def _report_looks(self) -> Callable[[int, int], None]:
        due = 0.0

        def on_look(done: int, total: int) -> None:
            nonlocal due
            now = time.monotonic()
            if now >= due or done == total:
                due = now + PERIOD
                self._report(SyncProgress("looking", done, total))

        return on_look

    # Changes

    async def _carry_out(self, look: _Look, tally: Tally) -> None:
        begun = self._ledger.unconfirmed_uploads(self.folder)
        self._ledger.reach(self.folder, *tally.reached)

        async def attempt(path: str, change: Coroutine[None, None, None]) -> None:
            with tally.attempt(path):
                await change
            self._ledger.reach(self.folder, *tally.reached)

        await _run_all(
            attempt(each.new, self._rename(each, look, tally)) for each in look.plan.renames
        )
        await _run_all(
            attempt(each.path, self._upload(each, look, tally, own=each.hash in begun))
            for each in look.plan.uploads
        )
        await _run_all(
            attempt(each.path, self._remove(each, look, tally)) for each in look.plan.removals
        )

    async def _rename(self, rename: Rename, look: _Look, tally: Tally) -> None:
        known = look.known[rename.hash]
        if await self._remote.rename(known.document_id, document_name(rename.new)):
            self._record(look, rename.hash, replace(known, name=rename.new, named=True))
            tally.renamed += 1
        else:
            # Deleted by another client just now: the next sync uploads it again.
            self._ledger.drop(self.folder, [rename.hash])

    async def _upload(self, upload: Upload, look: _Look, tally: Tally, *, own: bool) -> None:
        """Upload new content to the library; `own` if its upload was begun before."""
        if upload.hash in self._refused:
            raise ClientError(self._refused[upload.hash])
        name = document_name(upload.path)
        document_id = look.by_hash.get(upload.hash)
        named = None
        if document_id is None:
            document_id, named = await self._send(upload, look, tally)
        found = document_id in look.present
        own = own or not found
        look.present.add(document_id)
        # After an interruption here, the next sync renames it.
        known = Known(document_id, upload.path, own, named=named == name or not own)
        self._record(look, upload.hash, known)
        if not known.named and await self._remote.rename(document_id, name):
            self._record(look, upload.hash, replace(known, named=True))
        if found:
            tally.found += 1
        elif upload.updates:
            tally.updated += 1
        else:
            tally.uploaded += 1

    async def _send(self, upload: Upload, look: _Look, tally: Tally) -> tuple[str, str]:
        """Return the id and name of a file's new document."""
        size = look.contents.files[upload.path].stat.size
        name = document_name(upload.path)
        # Noted before the first byte, so that the next sync knows what a killed one uploaded.
        self._ledger.begin(self.folder, upload.hash, upload.path)
        with tally.transfer(upload.path, size) as moved:
            try:
                document = await self._remote.upload(
                    self.folder.path / upload.path, name, size, upload.hash, moved
                )
            except UnreadableFile:
                self._ledger.drop(self.folder, [upload.hash])
                raise
            except ServiceError as error:
                if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                    # Nothing arrived: a later document with this content is not from this folder.
                    self._ledger.drop(self.folder, [upload.hash])
                    if not is_hopeless(error):
                        self._refused[upload.hash] = str(error)
                raise
        return document.id, document.name

    async def _remove(self, removal: Removal, look: _Look, tally: Tally) -> None:
        if removal.successor is not None and removal.successor not in look.known:
            return  # its replacement failed to upload
        document_id = look.known[removal.hash].document_id
        await self._remote.delete(document_id)
        look.present.discard(document_id)
        self._ledger.drop(self.folder, [removal.hash])
        tally.deleted += removal.successor is None

    def _record(self, look: _Look, hash: str, known: Known) -> None:
        look.known[hash] = known
        self._ledger.put(self.folder, hash, known)


async def _run_all(calls: Iterable[Coroutine[None, None, None]]) -> None:
    """Run the calls, `AT_ONCE` concurrently; the first failure cancels the others and is raised."""
    queue = iter(calls)

    async def work() -> None:
        for call in queue:
            await call

    workers = [asyncio.create_task(work()) for _ in range(AT_ONCE)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def _failures(contents: Contents) -> tuple[Failure, ...]:
    return tuple(Failure(path, reason) for path, reason in contents.problems.items())
