"""Sharing libraries: `carrel libraries share`, `unshare` and `shares`."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from carrel.cli import output
from carrel.cli.find import find_library
from carrel.cli.options import JSONOption, LibraryArgument, argument, flag
from carrel.cli.session import with_client

if TYPE_CHECKING:
    from carrel.client import Client

WithArgument = Annotated[
    str, argument("ID", "The id of a user (see: carrel keys list) or of an organisation.")
]
TypeOption = Annotated[
    Literal["User", "Workspace", "Org"],
    flag("--type", "The kind of the id. Workspace and Org share with the whole organisation."),
]


@with_client(changes=True)
async def share(
    client: "Client",
    library: LibraryArgument,
    with_id: WithArgument,
    level: Annotated[
        Literal["Viewer", "Editor"],
        typer.Option(help="An Editor adds and removes documents; a Viewer reads and searches."),
    ] = "Viewer",
    with_type: TypeOption = "User",
    json: JSONOption = False,
) -> None:
    """Share a library within your organisation, or change its role."""
    from carrel.wire.libraries import ShareRequest

    request = ShareRequest(level=level, share_with_uuid=with_id, share_with_type=with_type)
    found = await find_library(client, library)
    sharing = await client.libraries.share(found.id, request)
    output.report_change(
        sharing, f"Shared {output.one_line(found.name)}: {with_id} is {sharing.role}.", json
    )


@with_client(changes=True)
async def unshare(
    client: "Client",
    library: LibraryArgument,
    with_id: WithArgument,
    with_type: TypeOption = "User",
) -> None:
    """Stop sharing a library."""
    from carrel.wire.libraries import ShareRemoval

    removal = ShareRemoval(share_with_uuid=with_id, share_with_type=with_type)
    found = await find_library(client, library)
    await client.libraries.unshare(found.id, removal)
    output.note(f"{output.one_line(found.name)} is no longer shared with {with_id}.")


@with_client()
async def shares(client: "Client", library: LibraryArgument, json: JSONOption = False) -> None:
    """List the users of a library, owner first."""
    listed = await client.libraries.shares((await find_library(client, library)).id)
    output.show_list(
        listed,
        json,
        ID=lambda sharing: sharing.share_with_uuid,
        TYPE=lambda sharing: sharing.share_with_type,
        ROLE=lambda sharing: sharing.role,
        ORGANISATION=lambda sharing: sharing.org_id,
    )
