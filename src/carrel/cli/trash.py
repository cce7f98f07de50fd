"""`carrel trash …`"""

from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_deleted
from carrel.cli.options import JSONOption, ProfileOption, commands
from carrel.cli.session import run

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.trash import TrashItem

app = commands("List, restore and empty the trash of a service that has one.")

ItemArgument = Annotated[str, typer.Argument(metavar="ITEM", help="A deleted item's id or name.")]


@app.command("list")
def list_trash(profile: ProfileOption = None, json: JSONOption = False) -> None:
    """List deleted items that can be restored."""
    items = run(profile, _items)
    if json:
        output.as_json(items)
        return
    output.table(
        ["ID", "KIND", "NAME", "DELETED", "UNTIL"],
        [
            (
                item.id,
                item.kind,
                item.name or "",
                output.when(item.deleted_at),
                output.when(item.expires_at),
            )
            for item in items
        ],
    )


@app.command("restore")
def restore(item: ItemArgument, profile: ProfileOption = None, json: JSONOption = False) -> None:
    """Restore a deleted item."""

    async def work(client: "Client") -> "TrashItem":
        await _check(client)
        return await client.trash.restore((await find_deleted(client, item)).id)

    restored = run(profile, work, changes=True)
    output.note(f"Restored {output.one_line(restored.name or restored.id)}.")
    if json:
        output.as_json(restored)


@app.command("empty")
def empty(profile: ProfileOption = None, json: JSONOption = False) -> None:
    """Delete everything in the trash for ever."""

    async def work(client: "Client") -> int:
        await _check(client)
        return await client.trash.empty()

    deleted = run(profile, work, changes=True)
    output.note(f"Deleted for ever: {deleted} item{'' if deleted == 1 else 's'}.")
    if json:
        output.as_json({"deleted": deleted})


async def _items(client: "Client") -> "list[TrashItem]":
    await _check(client)
    return [item async for item in client.trash.every()]


async def _check(client: "Client") -> None:
    if await client.health() and client.trash_days is None:
        raise CommandError("This service has no trash.", Code.FAILED)
