"""`carrel keys …`: the API keys of a bundled server."""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, argument, commands, flag, option
from carrel.cli.server_options import DataOption
from carrel.config.profiles import folders

if TYPE_CHECKING:
    from carrel.server.admin.keys import KeyChain
    from carrel.server.records.accounts.keys import Key

app = commands(
    "Create and revoke the API keys of your own server.\n\n"
    "The commands write to the server's data folder or database. A running server sees changes at "
    "once."
)

NameArgument = Annotated[str, argument("NAME", "A name for the key.")]
DatabaseOption = Annotated[
    str | None,
    option(
        "postgresql://…",
        "The database of the servers, instead of a data folder. Default: the one in "
        "DIR/settings.toml, if any.",
    ),
]


@app.command("add")
def add(
    name: NameArgument,
    organisation: Annotated[
        str,
        option(
            "NAME",
            "The organisation whose files and agents the key opens; created if new. The local "
            "workbench belongs to “local”.",
        ),
    ] = "local",
    user: Annotated[
        str | None,
        option(
            "NAME",
            "The user who owns the key and the libraries that it opens; created if new. "
            "Default: the name of the key.",
        ),
    ] = None,
    purpose: Annotated[
        str | None, option("TEXT", "What the key is for, for the list.", "--for")
    ] = None,
    days: Annotated[
        int | None, option("N", "Days until the key expires. Default: never.", min=1, max=36500)
    ] = None,
    read_only: Annotated[
        bool,
        flag(
            "--read-only",
            "Let the key read, search, ask models and read documents by OCR, and change nothing.",
        ),
    ] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
    json: JSONOption = False,
) -> None:
    """Create a key. It is printed once; only a keyed hash is stored."""
    with _chain(data, database, make=True) as chain:
        key, secret = chain.add(
            name, organisation, user or name, purpose=purpose, days=days, reads_only=read_only
        )
    if json:
        output.as_json({**_plain(key), "key": secret})
        return
    output.data(secret)
    output.note(f"Key of {key.user} in {key.organisation}. It is not shown again.")


@app.command("list")
def list_keys(
    data: DataOption = None, database: DatabaseOption = None, json: JSONOption = False
) -> None:
    """List keys and their owners. The keys themselves are not stored."""
    with _chain(data, database) as chain:
        keys = chain.list_all()
    if json:
        output.as_json([_plain(key) for key in keys])
        return
    output.table(
        ["NAME", "ORGANISATION", "USER", "FOR", "RIGHTS", "MADE", "USED", "ENDS", "USER ID"],
        [
            (
                key.name,
                key.organisation,
                key.user,
                key.purpose or "",
                "reads" if key.reads_only else "all",
                output.local_time(key.created_at),
                output.local_time(key.used_at),
                _end(key),
                key.user_id,
            )
            for key in keys
        ],
    )


@app.command("revoke")
def revoke(name: NameArgument, data: DataOption = None, database: DatabaseOption = None) -> None:
    """Revoke a key at once. Files and agents made with it stay."""
    with _chain(data, database) as chain:
        chain.revoke(name)
    output.note(f"Revoked {name}.")


@contextmanager
def _chain(data: Path | None, database: str | None, *, make: bool = False) -> Iterator["KeyChain"]:
    from carrel.local.installed import require_server

    require_server()
    from carrel.server.admin.keys import BadKeyName, KeyChain
    from carrel.server.datadir.folder import FolderError
    from carrel.server.records.cluster.shared import SharedDatabaseError
    from carrel.server.settings import ServerSettingsError

    folder = data or folders().server
    if database is None and not folder.is_dir():
        if not make or (data is not None and not folder.absolute().parent.is_dir()):
            message = f"There is no data folder at {folder}. Name it with --data."
            raise CommandError(message, Code.USAGE)
        if data is not None and not folder.exists():
            output.note(f"Making the data folder {folder} …")
    os.umask(0o077)
    try:
        yield KeyChain(folder, database)
    except BadKeyName as error:
        raise CommandError(str(error), Code.USAGE) from error
    except (FolderError, ServerSettingsError, SharedDatabaseError) as error:
        raise CommandError(str(error)) from error


def _end(key: "Key") -> str:
    if key.revoked_at is not None:
        return f"revoked {output.local_time(key.revoked_at)}"
    return output.local_time(key.expires_at)


def _plain(key: "Key") -> dict[str, Any]:
    values = dataclasses.asdict(key)
    for name in ("created_at", "revoked_at", "expires_at", "used_at"):
        values[name] = values[name] and values[name].isoformat()
    return values
