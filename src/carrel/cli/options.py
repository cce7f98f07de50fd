"""Options that many commands share."""

from typing import Annotated

import typer


def _or_global(context: typer.Context, value: str | None) -> str | None:
    name: str | None = value or context.find_root().params.get("profile")
    return name


ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        callback=_or_global,
        help="The service to talk to (see: carrel profiles list).",
    ),
]
"""Which profile; legal before the command and after it."""

JSONOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, with the fields of the interface.")
]


def commands(help: str) -> typer.Typer:
    """A noun of the command line, to which its verbs are added."""
    return typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)
