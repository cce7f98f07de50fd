"""`carrel sync`: keeps a library in step with a folder."""

import asyncio
import contextlib
import json as json_format
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError, report
from carrel.cli.find import NothingFound, find_library
from carrel.cli.options import JSONOption, ProfileOption, argument, flag, option
from carrel.cli.session import check_writable, connect
from carrel.client.http.errors import Unreachable
from carrel.config.profiles import Profile, folders, load_profile

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.sync.errors import TooManyDeletions
    from carrel.sync.ledger import Ledger, SyncSettings
    from carrel.sync.progress import Preview, Summary, SyncProgress
    from carrel.sync.runner import Runner

_PAUSE = 10.0
"""Seconds between reconnects of a watch that lost its server."""


def sync(
    folder: Annotated[
        Path, argument("FOLDER", "The folder that the library follows.", resolve_path=True)
    ],
    library: Annotated[str, option("LIBRARY", "The library's id or name. A new name creates one.")],
    watch: Annotated[bool, flag("--watch", "Sync after every change, until interrupted.")] = False,
    delete: Annotated[bool, flag("--delete", "Delete documents whose files were deleted.")] = False,
    delete_excluded: Annotated[
        bool, flag("--delete-excluded", "Also delete documents whose files are left out.")
    ] = False,
    max_delete: Annotated[
        int | None,
        option(
            "N",
            "Stop if more than N documents would be deleted. Default: half of those uploaded.",
            min=0,
        ),
    ] = None,
    create: Annotated[
        bool, flag("--create/--no-create", "Create the library if there is none.")
    ] = True,
    include: Annotated[
        list[str] | None, option("PATTERN", "Sync only matching files, such as '*.pdf'.")
    ] = None,
    exclude: Annotated[list[str] | None, option("PATTERN", "Leave matching files out.")] = None,
    dry_run: Annotated[bool, flag("--dry-run", "Print the changes without making them.")] = False,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Keep a library in step with a folder.

    Files are identified by content: a renamed or moved file renames its document. New content is
    uploaded before the old is deleted. Files on disk are never changed.

    Hidden, temporary and empty files, links, and files excluded by .gitignore or .carrelignore
    are left out. --include and --exclude take the same patterns and may be repeated. --dry-run
    lists the files left out, with reasons.

    --delete removes documents whose files were deleted. Documents that did not come from this
    folder always stay; documents of files left out stay unless --delete-excluded is given. If
    more than half of the folder's documents would be deleted, the command asks first; a script
    stops before any change, and --max-delete N allows it. --watch keeps such documents and syncs
    the rest.

    Run the same command again to continue after an interruption.
    """
    from carrel.sync.errors import SyncError
    from carrel.sync.ledger import Ledger, SyncSettings
    from carrel.sync.rules import Rules

    if not folder.is_dir():
        raise CommandError(f"There is no folder at {folder}.", Code.USAGE)
    if not library.strip():
        raise CommandError("--library is empty. Give a library's id or name.", Code.USAGE)
    if max_delete is not None and not (delete or delete_excluded):
        raise CommandError("--max-delete needs --delete or --delete-excluded.", Code.USAGE)
    if watch and dry_run:
        raise CommandError("--watch and --dry-run do not go together.", Code.USAGE)
    chosen = load_profile(profile)
    if not dry_run:
        check_writable(chosen)
    settings = SyncSettings(
        delete or delete_excluded, tuple(include or ()), tuple(exclude or ()), delete_excluded
    )
    try:
        Rules.of(settings.include, settings.exclude)
    except SyncError as error:
        raise CommandError(str(error), Code.USAGE) from error
    with Ledger(folders().sync) as ledger:
        command = _Sync(chosen, ledger, folder, library, create, settings, max_delete, json)
        if dry_run:
            asyncio.run(command.preview())
        elif watch:
            asyncio.run(command.watch())
        elif asyncio.run(command.run_once()).failures:
            raise typer.Exit(Code.FAILED)


@dataclass
class _Sync:
    """One run of the command."""

    profile: Profile
    ledger: "Ledger"
    folder: Path
    library: str
    create: bool
    settings: "SyncSettings"
    max_delete: int | None
    json: bool
    show: Callable[[str], None] = lambda text: None

    async def preview(self) -> None:
        async with self._runner(preview=True) as runner:
            preview = await runner.preview()
        self._tell_preview(preview)
        if not runner.folder.library_id:
            output.note(f"The library “{output.one_line(self.library)}” would be created.")

    async def run_once(self) -> "Summary":
        from carrel.sync.errors import TooManyDeletions

        try:
            async with self._runner() as runner:
                summary = await runner.run()
        except TooManyDeletions as error:
            self._confirm(error)
            return await self.run_once()
        self._tell(summary)
        return summary

    def _confirm(self, error: "TooManyDeletions") -> None:
        """Ask whether to allow the deletions.

        Raises:
            CommandError: the user declined, or there is no terminal to ask on.
        """
        advice = f"To allow them: --max-delete {error.count}. To see them: --dry-run."
        if self.max_delete is None and sys.stdin.isatty() and sys.stderr.isatty():
            question = f"Delete {error.count:,} of the {error.brought:,} documents it brought?"
            output.note(str(error))
            if typer.confirm(question, err=True):
                self.max_delete = error.count
                return
            raise CommandError("Nothing was changed. Without --delete, the rest is synced.")
        raise CommandError(f"{error} {advice}")

    async def watch(self) -> None:
        from carrel.local.installed import LocalError
        from carrel.sync.watcher import watch

        begun = False
        async for result, is_news in watch(self._runner, _PAUSE, (Unreachable, LocalError)):
            self.show("")
            if not begun:
                output.note(f"Watching {output.one_line(self.folder)}. Ctrl+C ends it.")
            if isinstance(result, Exception):
                if is_news:
                    report(result)
            elif is_news or not begun:
                self._tell(result)
            begun = True

    @contextlib.asynccontextmanager
    async def _runner(self, *, preview: bool = False) -> "AsyncIterator[Runner]":
        from carrel.store.sync.formatting import progress_words, transfer_words
        from carrel.sync.runner import Runner

        last: SyncProgress | None = None

        def show_progress(progress: "SyncProgress") -> None:
            nonlocal last
            last = progress
            files = ", ".join(f"{path} {part}" for path, part in transfer_words(progress))
            self.show("  ".join((progress_words(progress), files)))

        async with connect(self.profile) as client:
            library = await self._find(client, make=not preview)
            folder = self.ledger.folder(self.profile.service, library, self.folder)
            try:
                with output.show_changing() as self.show:
                    yield Runner(
                        client, self.ledger, folder, self.settings, show_progress, self.max_delete
                    )
            except (Exception, asyncio.CancelledError):
                if last is not None and last.reached[0] < last.reached[1]:
                    output.note(
                        f"Stopped at {progress_words(last)}. "
                        "Run the same command again to continue."
                    )
                raise

    async def _find(self, client: "Client", *, make: bool) -> str:
        """Return the library's id; empty if it does not exist and `make` is false."""
        try:
            library = await find_library(client, self.library)
        except NothingFound:
            if not self.create:
                raise
            if not make:
                return ""
            from carrel.wire.libraries import LibraryCreate

            # Another first sync may run beside this one.
            new = LibraryCreate(name=self.library)
            library = await client.libraries.create(new, if_absent=True)
            output.note(f"Created the library “{output.one_line(library.name)}”.")
        # Later runs use the id, in case the library is renamed.
        self.library = library.id
        return library.id

    def _tell(self, summary: "Summary") -> None:
        from carrel.store.sync.formatting import summary_words

        for failure in summary.failures:
            output.note(output.one_line(f"{failure.path}: {failure.reason}"))
        output.note(f"{summary_words(summary)}.")
        if self.json:
            output.data(json_format.dumps(asdict(summary), ensure_ascii=False))

    def _tell_preview(self, preview: "Preview") -> None:
        from carrel.store.sync.formatting import confirm_words, plan_rows, preview_words

        rows = plan_rows(preview, grouped=not self.json)
        if self.json:
            output.as_json([asdict(row) for row in rows])
        elif rows:
            output.table(["DO", "FILE", ""], [(row.action, row.path, row.note) for row in rows])
        output.note(f"{preview_words(preview)}.")
        if question := confirm_words(preview):
            output.note(f"A sync would ask first: {question}")
