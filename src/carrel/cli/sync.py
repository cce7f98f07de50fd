"""`carrel sync`: a folder kept in step with a library."""

import asyncio
import contextlib
import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError, report
from carrel.cli.find import find_library
from carrel.cli.options import JSONOption, ProfileOption
from carrel.cli.session import check_writable, connect
from carrel.config import Profile, folders, load_profile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from carrel.sync.ledger import Ledger, Settings
    from carrel.sync.progress import Preview, Progress, Summary
    from carrel.sync.runner import Runner

_PAUSE = 10.0
"""Seconds until a watch asks again for a server that was lost."""


def sync(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            resolve_path=True,
            help="What the library follows.",
        ),
    ],
    library: Annotated[str, typer.Option(metavar="LIBRARY", help="The library's id or name.")],
    watch: Annotated[bool, typer.Option("--watch", help="Go on until interrupted.")] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete in the library what was deleted here.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only files like this, such as '*.pdf'."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="No files like this.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be done.")
    ] = False,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Keep a library in step with a folder.

    Files are uploaded once and known by their content: one that was renamed or moved here is
    renamed there. A changed file's new content is uploaded before its old goes. Without --delete,
    what was deleted here stays there. Nothing on disk is ever changed.

    Left out are hidden and temporary files, links, empty files, and what .gitignore and
    .carrelignore say. Patterns are like theirs, and both options may be repeated. After an
    interruption, however it came, the same command goes on where it was.
    """
    from carrel.sync.errors import SyncError
    from carrel.sync.ledger import Ledger, Settings
    from carrel.sync.rules import Rules

    if watch and dry_run:
        raise CommandError("--watch and --dry-run do not go together.", Code.USAGE)
    chosen = load_profile(profile)
    if not dry_run:
        check_writable(chosen)
    settings = Settings(delete, tuple(include or ()), tuple(exclude or ()))
    try:
        Rules.of(settings.include, settings.exclude)
    except SyncError as error:
        raise CommandError(str(error), Code.USAGE) from None
    with Ledger(folders().sync) as ledger:
        command = _Sync(chosen, ledger, folder, library, settings, json)
        if dry_run:
            asyncio.run(command.preview())
        elif watch:
            asyncio.run(command.watch())
        elif asyncio.run(command.once()).failures:
            raise typer.Exit(Code.FAILED)


class _Sync:
    """One run of the command."""

    def __init__(
        self,
        profile: Profile,
        ledger: "Ledger",
        folder: Path,
        library: str,
        settings: "Settings",
        json: bool,
    ) -> None:
        self._profile = profile
        self._ledger = ledger
        self._folder = folder
        self._library = library
        self._settings = settings
        self._json = json
        self._told: set[object] = set()
        self._show: Callable[[str], None] = lambda text: None

    async def preview(self) -> None:
        async with self._runner() as runner:
            self._tell_preview(await runner.preview())

    async def once(self) -> "Summary":
        async with self._runner() as runner:
            summary = await runner.run()
        self._tell(summary)
        return summary

    async def watch(self) -> NoReturn:
        from carrel.client import Unreachable
        from carrel.local.errors import LocalError
        from carrel.sync.watcher import follow

        while True:
            try:
                async with self._runner() as runner, contextlib.aclosing(follow(runner)) as results:
                    async for result in results:
                        self._tell_round(result)
                        if isinstance(result, Unreachable):
                            # The server of this machine may come back at another address.
                            break
            except (Unreachable, LocalError) as error:
                self._tell_round(error)
            await asyncio.sleep(_PAUSE)

    @contextlib.asynccontextmanager
    async def _runner(self) -> "AsyncIterator[Runner]":
        from carrel.store.selectors.sync import progress_words, transfer_words
        from carrel.sync.runner import Runner

        last: Progress | None = None

        def moved(progress: "Progress") -> None:
            nonlocal last
            last = progress
            files = ", ".join(f"{path} {part}" for path, part in transfer_words(progress))
            self._show("  ".join((progress_words(progress), files)))

        async with connect(self._profile) as client:
            library = await find_library(client, self._library)
            folder = self._ledger.folder(self._profile.service, library.id, self._folder)
            try:
                with output.changing() as self._show:
                    yield Runner(client, self._ledger, folder, self._settings, moved)
            except (Exception, asyncio.CancelledError):
                if last is not None and last.phase == "syncing":
                    output.note(
                        f"Stopped at {progress_words(last)}. The same command goes on from there."
                    )
                raise

    def _tell_round(self, result: "Summary | Exception") -> None:
        """Says what came of a look at the folder, if that was not said before."""
        self._show("")
        if not self._told:
            output.note(f"Watching {output.one_line(self._folder)}. Ctrl+C ends it.")
        if isinstance(result, Exception):
            if str(result) not in self._told:
                report(result)
            self._told = {str(result)}
            return
        news = set(result.failures) - self._told
        if result.changed or news or not self._told:
            self._tell(result)
        self._told = {None, *result.failures}

    def _tell(self, summary: "Summary") -> None:
        from carrel.store.selectors.sync import summary_words

        for failure in summary.failures:
            output.note(output.one_line(f"{failure.path}: {failure.reason}"))
        output.note(f"{summary_words(summary)}.")
        if self._json:
            output.data(json_format.dumps(asdict(summary), ensure_ascii=False))

    def _tell_preview(self, preview: "Preview") -> None:
        from carrel.store.selectors.sync import change_rows, preview_words

        rows = change_rows(preview)
        if self._json:
            output.as_json([asdict(row) for row in rows])
        elif rows:
            output.table(["DO", "FILE", ""], [(row.action, row.path, row.note) for row in rows])
        output.note(f"{preview_words(preview)}.")
