"""The `carrel` command: its commands, global options and exit codes."""

import os
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from carrel.cli import agents, chat, config, files, keys, libraries, ocr, profiles, serve, sync
from carrel.cli.errors import Code, report
from carrel.cli.options import ProfileOption

HELP = """A workbench for documents and agents.

Alone, `carrel` starts the terminal app. The commands below do the same work for scripts:
data goes to stdout, talk and progress to stderr, and --json makes the data JSON.

The service is the profile named by --profile, else the one that CARREL_URL and CARREL_API_KEY
in the environment make, else the default profile, else the server on this machine, which is
started when it is needed.

\b
Exit codes:
  0    done
  1    the service refused, or the work failed
  2    wrong usage or settings
  3    no server could be reached
  130  interrupted
"""

app = typer.Typer(
    name="carrel",
    help=HELP,
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(files.app, name="files")
app.command("ocr")(ocr.ocr)
app.add_typer(libraries.app, name="libraries")
app.command("sync")(sync.sync)
app.add_typer(agents.app, name="agents")
app.command("chat")(chat.chat)
app.add_typer(profiles.app, name="profiles")
app.add_typer(config.app, name="config")
app.command("serve")(serve.serve)
app.add_typer(keys.app, name="keys")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"carrel {version('carrel')}")
        raise typer.Exit


@app.callback()
def workbench(
    context: typer.Context,
    profile: ProfileOption = None,
    mouse: Annotated[
        bool | None,
        typer.Option(
            "--mouse/--no-mouse", help="In the app: leave the mouse to the terminal, or take it."
        ),
    ] = None,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from carrel.config import load_profile
    from carrel.settings import load_settings

    chosen = load_profile(profile)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("carrel: the app needs a terminal. For scripts, see: carrel --help", file=sys.stderr)
        raise typer.Exit(Code.USAGE)
    settings = load_settings()
    from carrel.tui.app import run

    raise typer.Exit(run(chosen, settings, mouse=mouse))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Runs one command line and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks must not end the command.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(arguments, prog_name="carrel")
    except SystemExit as end:
        sys.exit(_flushed(end.code))
    except BaseException as error:
        sys.exit(_flushed(report(error)))
    sys.exit(_flushed(Code.DONE))


def _flushed(code: str | int | None) -> str | int | None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit, which would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Code.FAILED
    return code
