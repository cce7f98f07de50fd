"""`carrel keys …`: who may use a server of one's own."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, commands
from carrel.config import folders

if TYPE_CHECKING:
    from carrel.server.keys import KeyChain
    from carrel.server.records.keys import Key

app = commands(
    "Make and revoke the API keys of a server of your own.\n\n"
    "They work on the server's data folder, whether it runs or not; changes count at once."
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the key is listed under.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        show_default=False,
        help="The server's data folder. Without it, the folder of the profile “local”.",
    ),
]


@app.command("add")
def add(
    name: NameArgument,
    organisation: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Whose files and agents the key opens; made when it is new. The local workbench "
            "belongs to “local”.",
        ),
    ] = "local",
    user: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="The person in the organisation that it belongs to, and whose libraries it "
            "opens; made when new. Without it, the name of the key.",
        ),
    ] = None,
    data: DataOption = None,
    json: JSONOption = False,
) -> None:
    """Make a key. It is shown now and never again: only a keyed hash of it is kept."""
    with _chain(data, make=True) as chain:
        key, secret = chain.add(name, organisation, user or name)
    if json:
        output.as_json({**_plain(key), "key": secret})
        return
    output.data(secret)
    output.note(f"This is the key of {key.user} in {key.organisation}. It is not shown again.")


@app.command("list")
def list_keys(data: DataOption = None, json: JSONOption = False) -> None:
    """List the keys and whom they belong to. The keys themselves cannot be shown."""
    with _chain(data) as chain:
        keys = chain.every()
    if json:
        output.as_json([_plain(key) for key in keys])
        return
    output.table(
        ["NAME", "ORGANISATION", "USER", "MADE", "REVOKED", "USER ID"],
        [
            (
                key.name,
                key.organisation,
                key.user,
                output.when(key.created_at),
                output.when(key.revoked_at),
                key.user_id,
            )
            for key in keys
        ],
    )


@app.command("revoke")
def revoke(name: NameArgument, data: DataOption = None) -> None:
    """End a key, at once. What was made with it stays."""
    with _chain(data) as chain:
        chain.revoke(name)
    output.note(f"Revoked {name}.")


@contextmanager
def _chain(data: Path | None, *, make: bool = False) -> Iterator["KeyChain"]:
    from carrel.local.installed import require_server

    require_server()
    from carrel.server.folder import FolderError
    from carrel.server.keys import BadKeyName, KeyChain

    folder = data or folders().server
    if not folder.is_dir():
        if not make or (data is not None and not folder.absolute().parent.is_dir()):
            message = f"There is no data folder at {folder}. Name it with --data."
            raise CommandError(message, Code.USAGE)
        if data is not None and not folder.exists():
            output.note(f"Making the data folder {folder} …")
    try:
        yield KeyChain(folder)
    except BadKeyName as error:
        raise CommandError(str(error), Code.USAGE) from None
    except FolderError as error:
        raise CommandError(str(error)) from None


def _plain(key: "Key") -> dict[str, Any]:
    values = dataclasses.asdict(key)
    for name in ("created_at", "revoked_at"):
        values[name] = values[name] and values[name].isoformat()
    return values
