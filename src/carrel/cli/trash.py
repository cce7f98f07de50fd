"""`carrel trash …`"""

from typing import TYPE_CHECKING, Annotated

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_deleted
from carrel.cli.options import JSONOption, argument, commands
from carrel.cli.session import with_client

if TYPE_CHECKING:
    from carrel.client import Client

app = commands("List, restore and empty the trash of a service that has one.")

ItemArgument = Annotated[str, argument("ITEM", "A deleted item's id or name.")]


@app.command("list")
@with_client()
async def list_trash(client: "Client", json: JSONOption = False) -> None:
    """List deleted items that can be restored."""
    await _check(client)
    items = [item async for item in client.trash.every()]
    output.show_list(
        items,
        json,
        ID=lambda item: item.id,
        KIND=lambda item: item.kind,
        NAME=lambda item: item.name or "",
        DELETED=lambda item: output.local_time(item.deleted_at),
        UNTIL=lambda item: output.local_time(item.expires_at),
    )


@app.command("restore")
@with_client(changes=True)
async def restore(client: "Client", item: ItemArgument, json: JSONOption = False) -> None:
    """Restore a deleted item."""
    await _check(client)
    restored = await client.trash.restore((await find_deleted(client, item)).id)
    output.report_change(
        restored, f"Restored {output.one_line(restored.name or restored.id)}.", json
    )


@app.command("empty")
@with_client(changes=True)
async def empty(client: "Client", json: JSONOption = False) -> None:
    """Delete everything in the trash for ever."""
    await _check(client)
    deleted = await client.trash.empty()
    output.report_change(
        {"deleted": deleted},
        f"Deleted for ever: {deleted} item{'' if deleted == 1 else 's'}.",
        json,
    )


async def _check(client: "Client") -> None:
    if await client.health() and client.trash_days is None:
        raise CommandError("This service has no trash.", Code.FAILED)
