"""Synced folders: previews, running syncs and their results."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.client.http.errors import ClientError, Unreachable
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.libraries.service import LibrariesService
from carrel.store.shared import Area, Shared
from carrel.store.sync.round import Round
from carrel.store.sync.state import FolderState, SyncState

if TYPE_CHECKING:
    from carrel.sync.ledger import Ledger, SyncedFolder, SyncSettings
    from carrel.sync.progress import Preview as Preview
    from carrel.sync.progress import Report
    from carrel.sync.progress import Summary as Summary
    from carrel.sync.runner import Runner

LEDGER = "ledger.db"
AGAIN = 5.0
"""Retry interval in seconds of a watch without a service."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A started sync and its settings."""

    settings: SyncSettings
    watch: bool
    handle: Handle[None]


class SyncService(Area, Service[SyncState]):
    def __init__(self, shared: Shared, libraries: LibrariesService) -> None:
        super().__init__(shared, SyncState())
        self._service = shared.profile.service
        self._kept_in = shared.profile.folders.sync
        self._libraries = libraries
        self._opened: Ledger | None = None
        self._runs: dict[tuple[str, Path], _Run] = {}

    async def close(self) -> None:
        """Stop every sync; each resumes at its next start."""
        await super().close()
        if self._opened is not None:
            self._opened.close()

    def recover(self) -> None:
        """Resume the syncs that the lost service interrupted, and compare the other folders
        again."""
        for folder in self.slice.value.folders:
            if folder.problem is not None and folder.problem.lost and not folder.running:
                self._change(folder.id, problem=None, compared_at=None)
                if folder.reached is not None:
                    self.repeat(folder.id)
                else:
                    self.load()

    async def _load(self) -> None:
        """Load the synced folders; compare a folder again if its comparison is old."""
        known = {each.id: each for each in self.slice.value.folders}
        found = self._folders()
        folders = tuple(known.get(each.id) or self._recall_state(each) for each in found)
        self.slice.set(folders=folders)
        for folder, state in zip(found, folders, strict=True):
            if state.is_due(time.time()):
                await self._look(folder)

    def recall(self) -> None:
        """Show the synced folders as earlier processes left them; on the owner loop."""
        self.slice.set(folders=tuple(self._recall_state(folder) for folder in self._folders()))

    def _recall_state(self, folder: SyncedFolder) -> FolderState:
        if self._ledger().is_busy(folder):  # in another process
            folder = folder._replace(reached=None, watched=False)
        return FolderState(*folder)

    def resume(self, *, watch: bool = True) -> None:
        """Resume interrupted syncs, and with `watch` interrupted watches."""
        for folder in self.slice.value.unfinished:
            if folder.reached or watch:
                again = watch and folder.watched
                self._start(folder.library_id, folder.path, folder.settings, again)

    @property
    def running_handles(self) -> tuple[Handle[None], ...]:
        """The running syncs that end by themselves, without watches."""
        runs = (run for run in self._runs.values() if not run.watch)
        return tuple(run.handle for run in runs if not run.handle.done())

    def drop(self) -> None:
        """Forget interrupted syncs and watches; the next sync of a folder continues there."""
        for folder in self.slice.value.unfinished:
            self._ledger().watch(folder.id, False)
            self._change(folder.id, watched=False)

    @action(Policy.LATEST)
    async def preview(
        self,
        library_id: str | None,
        path: Path,
        delete: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Preview:
        """Return the actions of a sync; without a library, of a sync into a new one."""
        folder = await self._folder(library_id or "", path)
        settings = _settings(delete, include, exclude)
        try:
            show = lambda progress: self.slice.set(looking=progress)  # noqa: E731
            async with self._connect(folder, settings, show) as runner:
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
        """Sync a folder to a library; `watch` repeats it after each change until stopped.

        `delete` removes documents whose files were deleted in the folder. `include` and `exclude`
        are patterns as in `.gitignore`. `max_delete` limits the deletions of the first sync; more
        than half of the folder's documents need confirmation.
        """
        settings = _settings(delete, include, exclude)
        return self._start(library_id, path.expanduser().resolve(), settings, watch, max_delete)

    def repeat(self, folder_id: int) -> Handle[None]:
        """Sync a folder with its last settings."""
        folder = self.find(folder_id)
        return self._start(folder.library_id, folder.path, folder.settings)

    def stop(self, folder_id: int) -> None:
        """Stop a folder's sync; synced documents stay. From any thread."""
        folder = self.find(folder_id)
        self._loop.call(lambda: self._ledger().watch(folder_id, False))
        self._stop(folder.library_id, folder.path)

    def _stop(self, library_id: str, path: Path) -> None:
        """Stop the sync of a folder with a library, if it runs."""
        if run := self._runs.get((library_id, path)):
            run.handle.cancel()

    @action(Policy.QUEUE)
    async def forget(self, folder_id: int) -> None:
        """Remove a folder from the list; its documents stay in the library."""
        folder = self._state(folder_id)
        if folder is None:
            return
        if run := self._runs.get((folder.library_id, folder.path)):
            run.handle.cancel()
            await run.handle.settled()
        self._ledger().forget(await self._folder(folder.library_id, folder.path))
        rest = tuple(each for each in self.slice.value.folders if each.id != folder_id)
        self.slice.set(folders=rest)

    def find(self, folder_id: int) -> FolderState:
        """Return the state of a synced folder.

        Raises:
            KeyError: there is no folder with this id.
        """
        folder = self._state(folder_id)
        if folder is None:
            raise KeyError(folder_id)
        return folder

    def _state(self, folder_id: int) -> FolderState | None:
        return next((folder for folder in self.slice.value.folders if folder.id == folder_id), None)

    def _start(
        self,
        library_id: str,
        path: Path,
        settings: SyncSettings,
        watch: bool = False,
        max_delete: int | None = None,
    ) -> Handle[None]:
        """Start a sync, or join one with the same settings; refuse one with others."""
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
            "This folder is being synced already", str(path), "Stop that sync first."
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
        asked = folder._replace(settings=settings, reached=None, watched=False)
        state = FolderState(*asked, watching=watch)
        self.slice.set(folders=tuple({**old, folder.id: state}.values()))
        try:
            # A watch holds large deletions back: confirmed ones are made before the watch begins.
            if not watch or max_delete is not None:
                await self._sync_once(folder, settings, max_delete)
            if watch:
                self._ledger().watch(folder.id, True)
                with self._ledger().lock_watch(folder):
                    await self._watch(folder, settings)
        except Exception as error:
            self._change(folder.id, problem=Problem.of(error))
            raise
        finally:
            known = self._state(folder.id)
            if known is not None and known.progress is not None:
                self._change(folder.id, reached=known.progress.reached)
            self._change(folder.id, watching=False, progress=None)

    async def _sync_once(
        self, folder: SyncedFolder, settings: SyncSettings, max_delete: int | None
    ) -> None:
        round = self._round(folder, settings)
        with round.follow():
            connecting = self._connect(folder, settings, round.show_progress, max_delete)
            async with connecting as runner:
                summary = await runner.run()
        is_news = summary.changed or bool(summary.failures or summary.held)
        round.show_end(summary, is_news=is_news)

    async def _watch(self, folder: SyncedFolder, settings: SyncSettings) -> None:
        from carrel.sync.watcher import watch

        round = self._round(folder, settings)
        connect = functools.partial(self._connect, folder, settings, round.show_progress)
        with round.follow():
            async with contextlib.aclosing(watch(connect, AGAIN)) as results:
                async for result, is_news in results:
                    round.show_end(result, is_news=is_news)
                    if isinstance(result, Unreachable):
                        self._session.check_connection()

    async def _look(self, folder: SyncedFolder) -> None:
        """Preview a folder's sync, unless a sync runs or has run since the start."""
        from carrel.sync.errors import SyncError

        before = self._state(folder.id)
        if before is None or before.running:
            return
        try:
            async with self._connect(folder, folder.settings) as runner:
                preview = await runner.preview()
            told: dict[str, Any] = {"preview": preview, "problem": None}
        except (ClientError, SyncError) as error:
            told = {"problem": Problem.of(error)}
        known = self._state(folder.id)
        # A sync that ran meanwhile has newer results.
        if known is not None and not known.running and known.summary is before.summary:
            self._change(folder.id, compared_at=time.time(), **told)

    def _round(self, folder: SyncedFolder, settings: SyncSettings) -> Round:
        return Round(
            folder,
            functools.partial(self._change, folder.id),
            self._activity,
            self._notifications,
            self._libraries,
            stop=lambda: self._stop(folder.library_id, folder.path),
            again=lambda: self._start(folder.library_id, folder.path, settings),
        )

    def _change(self, folder_id: int, **fields: Any) -> None:
        """Change fields of a folder's state."""
        self.slice.set(
            folders=tuple(
                replace(folder, **fields) if folder.id == folder_id else folder
                for folder in self.slice.value.folders
            )
        )

    @contextlib.asynccontextmanager
    async def _connect(
        self,
        folder: SyncedFolder,
        settings: SyncSettings,
        report: Report = lambda progress: None,
        max_delete: int | None = None,
    ) -> AsyncIterator[Runner]:
        from carrel.sync.runner import Runner

        # A separate client: the session's is closed when the server moves.
        async with await self._session.another_client() as client:
            yield Runner(client, self._ledger(), folder, settings, report, max_delete)

    def _folders(self) -> Sequence[SyncedFolder]:
        # A mere look must not create a ledger.
        return self._ledger().folders(self._service) if (self._kept_in / LEDGER).exists() else ()

    def _ledger(self) -> Ledger:
        from carrel.sync.ledger import Ledger

        if self._opened is None:
            self._opened = Ledger(self._kept_in)
        return self._opened

    async def _folder(self, library_id: str, path: Path) -> SyncedFolder:
        path = await asyncio.to_thread(lambda: path.expanduser().resolve())
        return self._ledger().folder(self._service, library_id, path)


def _settings(delete: bool, include: Sequence[str], exclude: Sequence[str]) -> SyncSettings:
    from carrel.sync.ledger import SyncSettings

    return SyncSettings(delete, tuple(include), tuple(exclude))
