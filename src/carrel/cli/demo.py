"""`carrel demo`: a demo played in the terminal app, on the local server."""

import asyncio
import signal
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli.errors import Code, CommandError, report
from carrel.cli.output import note
from carrel.cli.recording import RecordOption, recordable, recording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.recording.recorder import Recorder
    from carrel.store.demo.journal import Journal
    from carrel.store.demo.script import Demo
    from carrel.tui.presentation import Presentation


def demo(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="The demo's YAML file. Default: the one shipped."),
    ] = None,
    record: RecordOption = None,
) -> None:
    """Play a demo in the terminal app: each step at one key.

    What the demo needs is made on the server of this machine first, and removed at the end,
    whatever happened in between.

    F8 plays the next step, F7 goes back, F9 pauses, F10 jumps; ctrl+q ends it.
    """
    from carrel import samples
    from carrel.config.profiles import LOCAL
    from carrel.store.demo.script import load_demo
    from carrel.store.demo.setting import local_journal

    if context.find_root().params.get("profile") not in (None, LOCAL):
        raise CommandError("A demo plays on the server of this machine only.", Code.USAGE)
    path = samples.demo() if file is None else file
    read = load_demo(path)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("A demo needs a terminal.", Code.USAGE)
    with local_journal().held() as journal, recording(record, read.title) as it:
        code = asyncio.run(_play(read, path.parent, journal, it))
    raise typer.Exit(code)


async def _play(demo: "Demo", folder: Path, journal: "Journal", recorder: "Recorder | None") -> int:
    """Play a demo, again from another step at each jump, and return the exit code."""
    from carrel.config.profiles import LOCAL, Profile
    from carrel.config.settings import load_settings
    from carrel.store.demo.setting import connect_local, set_up
    from carrel.tui.presentation import Presentation

    profile, settings = Profile(LOCAL), recordable(load_settings(), recorder)
    begin: int | None = 0
    code = 0
    while begin is not None:
        async with set_up(demo, folder, journal, lambda: connect_local(note), note):
            app = Presentation(profile, settings, demo, begin, recorder)
            with _end_on_signals(app):
                await app.run_async(mouse=settings.mouse)
            begin, code = app.again, app.return_code or 0
    return code


@contextmanager
def _end_on_signals(app: "Presentation") -> "Iterator[None]":
    """Let signals end the app, not the process, so that what was made is removed."""
    if sys.platform == "win32":
        yield
        return
    loop, signals = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, app.exit)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def remove_left_over() -> None:
    """Remove what a demo that was killed has left on the server of this machine.

    What cannot be removed now is left to the next start.
    """
    from carrel.config.profiles import folders
    from carrel.store.demo import JOURNAL

    if not (folders().state / JOURNAL).exists():
        return
    from carrel.store.core.problem import ProblemError
    from carrel.store.demo.setting import connect_local, local_journal, remove_left

    # Of a demo that is under way in another terminal nothing is left over.
    with suppress(ProblemError), local_journal().held() as journal:
        try:
            asyncio.run(remove_left(journal, connect_local))
        except Exception as error:
            report(error)
