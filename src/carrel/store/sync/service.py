"""Synced folders: what a sync would do, those that run, and how they ended."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config import Profile, folders
from carrel.store.activity.notifications import NotificationsService
from carrel.store.activity.service import ActivityItem, ActivityService, Status
from carrel.store.core.action import Policy, action
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.libraries.service import LibrariesService
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService
from carrel.store.sync.words import files, folder_name, summary_words

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.sync.ledger import Ledger, SyncedFolder, SyncSettings
    from carrel.sync.progress import Preview as Preview
    from carrel.sync.progress import Report, SyncProgress
    from carrel.sync.progress import Summary as Summary
    from carrel.sync.runner import Runner

ARRIVING = 1.0
"""Seconds between two looks at the documents that arrive."""

AGAIN = 5.0
"""Seconds until a watch asks again for a service that was lost."""

COMPARED = 30.0
"""Seconds after which a folder that is not watched is compared with its library anew."""

LISTED = 10
"""Failures that a problem names."""


@dataclass(frozen=True, slots=True)
class FolderState:
    """A synced folder. `synced_at` and `compared_at`, when it was last compared with its library
    since the program began, are in seconds since 1970.

    `progress` is there while a sync looks or works, `preview` says what a sync would do that has
    not been asked for, and `summary` what the last one did.
    """

    id: int
    library_id: str
    path: Path
    settings: SyncSettings
    synced_at: float | None = None
    compared_at: float | None = None
    watching: bool = False
    progress: SyncProgress | None = None
    preview: Preview | None = None
    summary: Summary | None = None
    problem: Problem | None = None

    @property
    def running(self) -> bool:
        """Whether there is something to stop."""
        return self.watching or self.progress is not None

    def due(self, now: float) -> bool:
        """Whether to compare it anew. What failed stays to be seen until it is synced again."""
        failed = self.problem is not None or (self.summary is not None and self.summary.failures)
        if self.compared_at is None:
            return not self.running
        return not (self.running or failed) and now - self.compared_at > COMPARED


@dataclass(frozen=True, slots=True)
class SyncState:
    """The folders synced with the service's libraries. `looking`: how far a preview is."""

    folders: tuple[FolderState, ...] = ()
    looking: SyncProgress | None = None
    error: Problem | None = None

    def of(self, library_id: str | None) -> tuple[FolderState, ...]:
        """The folders of one library."""
        return tuple(each for each in self.folders if each.library_id == library_id)


@dataclass(frozen=True, slots=True)
class _Run:
    """A sync that was started, and how."""

    settings: SyncSettings
    watch: bool
    handle: Handle[None]


class SyncService(Area[SyncState]):
    def __init__(
        self,
        loop: OwnerLoop,
        profile: Profile,
        session: SessionService,
        activity: ActivityService,
        notifications: NotificationsService,
        libraries: LibrariesService,
    ) -> None:
        super().__init__(loop, SyncState(), session)
        self._service = profile.service
        self.activity = activity
        self.notifications = notifications
        self.libraries = libraries
        self._opened: Ledger | None = None
        self._runs: dict[tuple[str, Path], _Run] = {}

    async def close(self) -> None:
        """Ends every sync; each goes on where it was when it is asked for again."""
        await super().close()
        if self._opened is not None:
            self._opened.close()

    def service_is_back(self) -> None:
        """Compares anew what could not be compared without the service."""
        for folder in self.slice.value.folders:
            if folder.problem is not None and folder.problem.lost and not folder.running:
                self.change(folder.id, problem=None, compared_at=None)
                self.load()

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Loads the synced folders, and compares with their libraries those not compared lately."""
        known = {each.id: each for each in self.slice.value.folders}
        found = self._ledger().folders(self._service)
        folders = tuple(known.get(each.id) or _state(each) for each in found)
        self.slice.set(folders=folders)
        for folder, state in zip(found, folders, strict=True):
            if state.due(time.time()):
                await self._look(folder)

    @action(Policy.LATEST)
    async def preview(
        self,
        library_id: str | None,
        path: Path,
        delete: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Preview:
        """What a sync would do; without a library, into one that is made for it."""
        folder = await self._folder(library_id or "", path)
        settings = _settings(delete, include, exclude)
        try:
            async with self._client() as client:
                runner = self._runner(client, folder, settings, self._looking)
                return await runner.preview()
        finally:
            self.slice.set(looking=None)

    def sync(
        self,
        library_id: str,
        path: Path,
        delete: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        watch: bool = False,
        max_delete: int | None = None,
    ) -> Handle[None]:
        """Brings a library in step with a folder; `watch` keeps it so until it is stopped.

        `delete`: what was deleted in the folder goes from the library too. `include` and
        `exclude` are patterns as in `.gitignore`. `max_delete` is how many documents it may
        delete at first, more than half of those the folder brought only if that was confirmed.
        """
        settings = _settings(delete, include, exclude)
        return self.sync_folder(
            library_id, path.expanduser().resolve(), settings, watch, max_delete
        )

    def again(self, folder_id: int) -> Handle[None]:
        """Syncs a folder as it was synced last."""
        folder = self.find(folder_id)
        return self.sync_folder(folder.library_id, folder.path, folder.settings)

    def stop(self, folder_id: int) -> None:
        """Stops a folder's sync; what is there stays. From any thread."""
        folder = self.find(folder_id)
        self.stop_folder(folder.library_id, folder.path)

    def stop_folder(self, library_id: str, path: Path) -> None:
        """Stops the sync of a folder with a library, if one runs."""
        if run := self._runs.get((library_id, path)):
            run.handle.cancel()

    @action(Policy.QUEUE)
    async def forget(self, folder_id: int) -> None:
        """Takes a folder off the list; its documents stay in the library."""
        folder = self._state(folder_id)
        if folder is None:
            return
        if run := self._runs.get((folder.library_id, folder.path)):
            run.handle.cancel()
            await run.handle
        self._ledger().forget(await self._folder(folder.library_id, folder.path))
        rest = tuple(each for each in self.slice.value.folders if each.id != folder_id)
        self.slice.set(folders=rest)

    def find(self, folder_id: int) -> FolderState:
        """A synced folder.

        Raises:
            KeyError: there is none with this id.
        """
        folder = self._state(folder_id)
        if folder is None:
            raise KeyError(folder_id)
        return folder

    def _state(self, folder_id: int) -> FolderState | None:
        return next((each for each in self.slice.value.folders if each.id == folder_id), None)

    def sync_folder(
        self,
        library_id: str,
        path: Path,
        settings: SyncSettings,
        watch: bool = False,
        max_delete: int | None = None,
    ) -> Handle[None]:
        """Starts a sync, or joins the same one; one that is asked for otherwise is refused."""
        run = self._runs.get((library_id, path))
        if run is not None and not run.handle.done():
            same = (run.settings, run.watch) == (settings, watch)
            return run.handle if same else self._refuse(path)
        handle = self._sync(library_id, path, settings, watch, max_delete)
        self._runs[library_id, path] = _Run(settings, watch, handle)
        return handle

    @action(Policy.BESIDE)
    async def _refuse(self, path: Path) -> None:
        raise ProblemError(
            Problem("This folder is being synced already", str(path), "Stop that sync first.")
        )

    @action(Policy.BESIDE, changes=True)
    async def _sync(
        self,
        library_id: str,
        path: Path,
        settings: SyncSettings,
        watch: bool,
        max_delete: int | None,
    ) -> None:
        folder = await self._folder(library_id, path)
        old = {each.id: each for each in self.slice.value.folders}
        state = replace(_state(folder), settings=settings, watching=watch)
        self.slice.set(folders=tuple({**old, folder.id: state}.values()))
        try:
            if not watch or max_delete is not None:
                await self._once(folder, settings, max_delete)
            if watch:
                await self._watch(folder, settings)
        except Exception as error:
            self.change(folder.id, problem=Problem.of(error))
            raise
        finally:
            self.change(folder.id, watching=False, progress=None)

    async def _once(
        self, folder: SyncedFolder, settings: SyncSettings, max_delete: int | None
    ) -> None:
        round = _Round(self, folder, settings)
        with round.followed():
            async with self._client() as client:
                runner = self._runner(client, folder, settings, round.moved, max_delete)
                summary = await runner.run()
        round.ended(summary)

    async def _watch(self, folder: SyncedFolder, settings: SyncSettings) -> None:
        from carrel.client.errors import Unreachable
        from carrel.sync.watcher import follow

        round = _Round(self, folder, settings)
        while True:
            with round.followed():
                async with self._client() as client:
                    runner = self._runner(client, folder, settings, round.moved)
                    async with contextlib.aclosing(follow(runner)) as results:
                        async for result in results:
                            round.ended(result)
                            if isinstance(result, Unreachable):
                                # It may come back at another address.
                                self._session.doubt()
                                break
            await asyncio.sleep(AGAIN)

    async def _look(self, folder: SyncedFolder) -> None:
        """Says what a sync of a folder would do, unless one runs or did so since the start."""
        from carrel.client.errors import ClientError
        from carrel.sync.errors import SyncError

        before = self._state(folder.id)
        if before is None or before.running:
            return
        try:
            async with self._client() as client:
                preview = await self._runner(client, folder, folder.settings).preview()
            told: dict[str, Any] = {"preview": preview, "problem": None}
        except (ClientError, SyncError) as error:
            told = {"problem": Problem.of(error)}
        known = self._state(folder.id)
        # A sync that ran meanwhile knows better.
        if known is not None and not known.running and known.summary is before.summary:
            self.change(folder.id, compared_at=time.time(), **told)

    def _looking(self, progress: SyncProgress) -> None:
        self.slice.set(looking=progress)

    def change(self, folder_id: int, **fields: Any) -> None:
        """Changes what is shown of a folder."""
        self.slice.set(
            folders=tuple(
                replace(each, **fields) if each.id == folder_id else each
                for each in self.slice.value.folders
            )
        )

    @contextlib.asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        # One of its own: the session's is closed when the server comes back elsewhere.
        client = await self._session.another_client()
        async with client:
            yield client

    def _runner(
        self,
        client: Client,
        folder: SyncedFolder,
        settings: SyncSettings,
        report: Report = lambda progress: None,
        max_delete: int | None = None,
    ) -> Runner:
        from carrel.sync.runner import Runner

        return Runner(client, self._ledger(), folder, settings, report, max_delete)

    def _ledger(self) -> Ledger:
        from carrel.sync.ledger import Ledger

        if self._opened is None:
            self._opened = Ledger(folders().sync)
        return self._opened

    async def _folder(self, library_id: str, path: Path) -> SyncedFolder:
        path = await asyncio.to_thread(lambda: path.expanduser().resolve())
        return self._ledger().folder(self._service, library_id, path)


class _Round:
    """Shows how one folder's syncs go: in its state, in the activity, and in the library."""

    def __init__(self, service: SyncService, folder: SyncedFolder, settings: SyncSettings) -> None:
        self._service = service
        self._folder = folder
        self._settings = settings
        self._name = folder_name(folder.path)
        self._item: str | None = None
        self._told: tuple[object, ...] = (0,)
        self._due = 0.0

    def moved(self, progress: SyncProgress) -> None:
        """Takes in how far it is."""
        self._service.change(self._folder.id, progress=progress)
        if progress.phase != "syncing":
            return
        activity = self._service.activity
        if self._item is None:
            self._item = f"sync-{self._folder.id}-{time.monotonic_ns()}"
            activity.show(ActivityItem(self._item, "sync", self._name))
            activity.set_cancel(self._item, self._stop)
            activity.set_again(self._item, self._again)
        activity.change(self._item, status="running", done=progress.bytes, total=progress.of_bytes)
        if time.monotonic() > self._due:
            self._due = time.monotonic() + ARRIVING
            self._service.libraries.load()

    def ended(self, result: Summary | Exception) -> None:
        """Takes in how it ended; the next one may follow."""
        if isinstance(result, Exception):
            error = Problem.of(result)
            self._close("failed", error)
            self._service.change(self._folder.id, problem=error, progress=None)
            return
        problem = _failed(result)
        self._close("failed" if problem else "done", problem)
        self._service.change(
            self._folder.id,
            problem=None,
            progress=None,
            preview=None,
            summary=result,
            synced_at=time.time(),
            compared_at=time.time(),
        )
        if result.changed:
            self._service.libraries.reload()
        news = (*result.failures, result.held)
        if result.changed or news != self._told:
            self._service.notifications.notify(
                f"{self._name}: {summary_words(result)}.", "error" if problem else "info"
            )
        self._told = news

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """What ends the block early ends the item in the activity too."""
        try:
            yield
        except asyncio.CancelledError:
            self._close("cancelled")
            self._service.libraries.reload()
            raise
        except Exception as error:
            self._close("failed", Problem.of(error))
            raise

    def _stop(self) -> None:
        self._service.stop_folder(self._folder.library_id, self._folder.path)

    def _again(self) -> Handle[None]:
        return self._service.sync_folder(self._folder.library_id, self._folder.path, self._settings)

    def _close(self, status: Status, problem: Problem | None = None) -> None:
        if self._item is not None:
            self._service.activity.change(self._item, status=status, error=problem)
        self._item = None


def wanted(
    folder: str, names: Iterable[str], rules: Iterable[tuple[str, str]], *, folders: bool = False
) -> list[str]:
    """The names of a folder's files, or of the folders in it, that a sync would take.

    `folder` is its path below the topmost one, "" for that itself; `rules` are the texts of the
    `.gitignore` and `.carrelignore` files that hold there, each with its folder, the topmost first.
    """
    from carrel.sync.rules import RULE_FILES, Rules, passing

    ruled = Rules()
    for where, text in rules:
        ruled = ruled.below(where, text, RULE_FILES[0])
    prefix = f"{folder}/" if folder else ""
    return [
        name
        for name in names
        if not passing(name) and not ruled.reason(prefix + name, folder=folders)
    ]


def _failed(summary: Summary) -> Problem | None:
    if not summary.failures:
        return None
    number = len(summary.failures)
    return Problem(
        f"{files(number)} {'was' if number == 1 else 'were'} not synced",
        "; ".join(f"{each.path}: {each.reason}" for each in summary.failures[:LISTED]),
        "The next sync tries again.",
    )


def _state(folder: SyncedFolder) -> FolderState:
    return FolderState(folder.id, folder.library_id, folder.path, folder.settings, folder.synced_at)


def _settings(delete: bool, include: Sequence[str], exclude: Sequence[str]) -> SyncSettings:
    from carrel.sync.ledger import SyncSettings

    return SyncSettings(delete, tuple(include), tuple(exclude))
