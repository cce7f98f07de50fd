"""`carrel demo`: a demo in the terminal app, on its own server."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carrel import samples
from carrel.cli.errors import Code, CommandError, report
from carrel.cli.options import argument
from carrel.cli.output import note
from carrel.cli.recording import RecordOption, recording, settings_of_recording

if TYPE_CHECKING:
    from carrel.recording.recorder import Recorder
    from carrel.store.demo.script import Demo
    from carrel.tui.presentation import Presentation


def demo(
    context: typer.Context,
    file: Annotated[
        Path | None, argument("FILE", "The demo's YAML file. Default: the one shipped.")
    ] = None,
    record: RecordOption = None,
) -> None:
    """Play a demo in the terminal app: each step at one key.

    It plays on a server of its own, with the model of the server of this machine, and shows
    nothing but what it needs. All of it is removed at the end, whatever happened in between.

    F8 plays the next step, F7 goes back, F9 pauses, F10 jumps; ctrl+q ends it.
    """
    from carrel.config.profiles import LOCAL
    from carrel.store.demo.script import load_demo

    if context.find_root().params.get("profile") not in (None, LOCAL):
        raise CommandError("A demo plays on the server of this machine only.", Code.USAGE)
    path = samples.demo() if file is None else file
    read = load_demo(path)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("A demo needs a terminal.", Code.USAGE)
    with recording(record, read.title) as it:
        code = asyncio.run(_play(read, path.parent, it))
    raise typer.Exit(code)


async def _play(demo: "Demo", folder: Path, recorder: "Recorder | None") -> int:
    """Play a demo, again after each jump; return the exit code."""
    from carrel.config.settings import load_settings
    from carrel.store.demo.setting import own_place, own_profile, set_up
    from carrel.tui.presentation import Presentation

    profile, settings = own_profile(), settings_of_recording(load_settings(), recorder)
    begin: int | None = 0
    code = 0
    async with own_place():
        while begin is not None:
            async with set_up(demo, folder, profile, note) as played:
                app = Presentation(profile, settings, played, begin, recorder)
                with _end_on_signals(app):
                    await app.run_async(mouse=settings.mouse)
                begin, code = app.again, app.return_code or 0
    return code


@contextmanager
def _end_on_signals(app: "Presentation") -> Iterator[None]:
    """Let signals end the app, not the process, so that the demo's resources are removed."""
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
    """Remove the resources that a killed demo left on this machine.

    A failed removal is left to the next start.
    """
    from carrel.config.profiles import folders
    from carrel.store.demo import FOLDER

    if not (folders().state / FOLDER).exists():
        return
    from carrel.store.core.problem import ProblemError
    from carrel.store.demo.setting import own_place

    async def remove() -> None:
        # A demo that runs in another terminal has left nothing over.
        with suppress(ProblemError):
            async with own_place():
                pass

    try:
        asyncio.run(remove())
    except Exception as error:
        report(error)
