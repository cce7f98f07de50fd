"""Options shared by commands."""

from typing import Annotated, Any

import typer

from carrel.cli.errors import Code, CommandError


def option(metavar: str, help: str, *names: str, **limits: Any) -> Any:
    """Return an option that takes a value; without `names` it is called as its parameter."""
    return typer.Option(*names, metavar=metavar, help=help, **limits)


def flag(name: str, help: str, *names: str) -> Any:
    """Return an option without a value."""
    return typer.Option(name, *names, help=help)


def argument(metavar: str, help: str | None = None, **limits: Any) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=help, **limits)


def _or_global(context: typer.Context, value: str | None) -> str | None:
    name: str | None = value or context.find_root().params.get("profile")
    return name


ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        callback=_or_global,
        help="The profile to use (see: carrel profiles list).",
    ),
]
"""The profile; accepted before and after the command."""

JSONOption = Annotated[bool, flag("--json", "Print JSON.")]

AgentArgument = Annotated[str, argument("AGENT", "An agent's id or name.")]
LibraryArgument = Annotated[str, argument("LIBRARY", "A library's id or name.")]


def version_or_alias(text: str) -> str:
    """Convert a typed version (`3`, `v3` or an alias) to the service's form."""
    return text[1:] if text.startswith("v") and text[1:].isdecimal() else text


def version_number(text: str) -> int:
    """Return the number of a typed version."""
    number = text.removeprefix("v")
    if not (number.isascii() and number.isdigit()):
        raise CommandError(f"“{text}” is not a version. Versions are v0, v1, …", Code.USAGE)
    return int(number)


VersionArgument = Annotated[
    int,
    typer.Argument(metavar="VERSION", parser=version_number, help="The version's number: 3 or v3."),
]


def commands(help: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)
