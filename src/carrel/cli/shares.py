"""Sharing libraries: `carrel libraries share`, `unshare` and `shares`."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from carrel.cli import output
from carrel.cli.find import find_library
from carrel.cli.options import JSONOption, LibraryArgument, ProfileOption
from carrel.cli.session import run

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.libraries import Library, Sharing

WithArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The id of a user (see: carrel keys list) or of an organisation."
    ),
]
TypeOption = Annotated[
    Literal["User", "Workspace", "Org"],
    typer.Option(
        "--type", help="The kind of the id. Workspace and Org share with the whole organisation."
    ),
]


def share(
    library: LibraryArgument,
    with_id: WithArgument,
    level: Annotated[
        Literal["Viewer", "Editor"],
        typer.Option(help="An Editor adds and removes documents; a Viewer reads and searches."),
    ] = "Viewer",
    with_type: TypeOption = "User",
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Share a library within your organisation, or change its role."""
    from carrel.wire.libraries import ShareRequest

    request = ShareRequest(level=level, share_with_uuid=with_id, share_with_type=with_type)

    async def work(client: "Client") -> "tuple[Library, Sharing]":
        found = await find_library(client, library)
        return found, await client.libraries.share(found.id, request)

    found, sharing = run(profile, work, changes=True)
    output.note(f"Shared {output.one_line(found.name)}: {with_id} is {sharing.role}.")
    if json:
        output.as_json(sharing)


def unshare(
    library: LibraryArgument,
    with_id: WithArgument,
    with_type: TypeOption = "User",
    profile: ProfileOption = None,
) -> None:
    """Stop sharing a library."""
    from carrel.wire.libraries import ShareRemoval

    removal = ShareRemoval(share_with_uuid=with_id, share_with_type=with_type)

    async def work(client: "Client") -> "Library":
        found = await find_library(client, library)
        await client.libraries.unshare(found.id, removal)
        return found

    found = run(profile, work, changes=True)
    output.note(f"{output.one_line(found.name)} is no longer shared with {with_id}.")


def shares(
    library: LibraryArgument, profile: ProfileOption = None, json: JSONOption = False
) -> None:
    """List the users of a library, owner first."""

    async def work(client: "Client") -> "list[Sharing]":
        return await client.libraries.shares((await find_library(client, library)).id)

    listed = run(profile, work)
    if json:
        output.as_json(listed)
        return
    output.table(
        ["ID", "TYPE", "ROLE", "ORGANISATION"],
        [
            (sharing.share_with_uuid, sharing.share_with_type, sharing.role, sharing.org_id)
            for sharing in listed
        ],
    )
