"""The `carrel` command: its commands, global options and exit codes."""

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from carrel.cli.errors import Code, CommandError, report
from carrel.cli.options import ProfileOption, flag
from carrel.cli.recording import RecordOption, recording, settings_of_recording

HELP = """A workbench for documents and agents.

Without a command, `carrel` starts the terminal app. The commands below do the same work in
scripts: data goes to stdout, messages and progress to stderr. --json prints data as JSON, with
the field names of the interface.

The service is, in this order: the profile named by --profile, the one described by CARREL_URL
and CARREL_API_KEY in the environment, the default profile, the server on this machine, which
starts when needed.

\b
Exit codes:
  0    done
  1    the service refused the request, or the work failed
  2    wrong usage or settings
  3    no server could be reached
  4    a check found something: agents that differ from their files, test cases that fail
  5    applying agents would overwrite a change made at the service
  130  interrupted
"""


class _InOrder(TyperGroup):
    """Lists the commands in the order of NOUNS."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [noun for noun in NOUNS if noun in self.commands]


NOUNS = (
    "files",
    "ocr",
    "libraries",
    "search",
    "sync",
    "resume",
    "agents",
    "chat",
    "tools",
    "demo",
    "replay",
    "batch",
    "trash",
    "cache",
    "mcp",
    "profiles",
    "config",
    "serve",
    "worker",
    "keys",
    "migrate",
    "backup",
    "restore",
    "doctor",
)
"""The commands in the order of the help, each a module of its name."""


def _commands_of(words: Sequence[str]) -> Sequence[str]:
    """Return the nouns that a command line may use: importing all is slow."""
    if named := [noun for noun in NOUNS if noun in words]:
        return named
    alone = not words or words[0] in ("--profile", "--mouse", "--no-mouse", "--record", "--version")
    return () if alone and not {"-h", "--help"} & set(words) else NOUNS


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"carrel {version('carrel')}")
        raise typer.Exit


def workbench(
    context: typer.Context,
    profile: ProfileOption = None,
    mouse: Annotated[
        bool | None,
        flag("--mouse/--no-mouse", "Use the mouse in the app, or leave it to the terminal."),
    ] = None,
    record: RecordOption = None,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is not None:
        if record is not None:
            raise CommandError("Only the app is recorded: carrel --record FILE.", Code.USAGE)
        return
    from carrel.config.profiles import load_profile
    from carrel.config.settings import load_settings

    chosen = load_profile(profile)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("carrel: the app needs a terminal. For scripts, see: carrel --help", file=sys.stderr)
        raise typer.Exit(Code.USAGE)
    settings = load_settings()
    if chosen.local:
        from carrel.cli.demo import remove_left_over

        remove_left_over()
    gc.disable()
    from carrel.tui.app import run

    with recording(record, "Carrel") as recorder:
        code = run(
            chosen, settings_of_recording(settings, recorder), mouse=mouse, recorder=recorder
        )
    raise typer.Exit(code)


def _app(nouns: Sequence[str]) -> typer.Typer:
    """Return a new command line with these commands: Typer never forgets one."""
    app = typer.Typer(
        name="carrel",
        cls=_InOrder,
        help=HELP,
        invoke_without_command=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(workbench)
    for noun in nouns:
        module = importlib.import_module(f"carrel.cli.{noun}")
        group = getattr(module, "app", None)
        if group is None:
            app.command(noun)(getattr(module, noun))
        else:
            app.add_typer(group, name=noun)
    return app


def complete_app() -> typer.Typer:
    """Return the command line with every command, for its documentation."""
    return _app(NOUNS)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run one command line and end the process with its exit code."""
    # Modules stay: scanning them during imports and at exit takes a quarter of a short command's
    # time.
    gc.set_threshold(20_000, 20, 20)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # A character outside of the terminal's encoding must not end the command.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    words = sys.argv[1:] if arguments is None else arguments
    try:
        _app(_commands_of(words))(arguments, prog_name="carrel")
    except SystemExit as end:
        sys.exit(_flush(end.code))
    except BaseException as error:
        code = _flush(report(error))
        if code == Code.INTERRUPTED:
            # Python would wait for every thread, and one may be stuck.
            os._exit(Code.INTERRUPTED)
        sys.exit(code)
    sys.exit(_flush(Code.DONE))


def _flush(code: str | int | None) -> str | int | None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit, which would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Code.FAILED
    return code
