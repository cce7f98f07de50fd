"""The trash of a service that has one."""

from collections.abc import AsyncIterator

from carrel.client.http.paging import PAGE, every
from carrel.client.http.transport import Transport, path_of
from carrel.wire.trash import EmptiedTrash, TrashItem, TrashList, TrashQuery

_PATH = "/v1/trash"


class Trash:
    """`/v1/trash`, an extension; `Client.health` says whether the service has it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, *, page: int = 0, page_size: int = 100) -> TrashList:
        """Return a page of what the key's user deleted, the last deleted first.

        Pages count from 0.
        """
        query = TrashQuery(page=page, page_size=page_size)
        return await self._transport.call(TrashList, "GET", _PATH, query=query)

    def every(self) -> AsyncIterator[TrashItem]:
        """Return everything in the trash, page after page."""

        async def page(number: int) -> list[TrashItem]:
            return (await self.list(page=number, page_size=PAGE)).data

        return every(page, lambda item: item.id)

    async def get(self, item_id: str) -> TrashItem:
        """Return an item of the trash."""
        return await self._transport.call(TrashItem, "GET", path_of(f"{_PATH}/{{}}", item_id))

    async def restore(self, item_id: str) -> TrashItem:
        """Put an item back, under the id it had."""
        path = path_of(f"{_PATH}/{{}}/restore", item_id)
        return await self._transport.call(TrashItem, "POST", path)

    async def delete(self, item_id: str) -> None:
        """Delete an item of the trash for ever."""
        await self._transport.send("DELETE", path_of(f"{_PATH}/{{}}", item_id))

    async def empty(self) -> int:
        """Delete everything in the trash for ever; return the number of items."""
        emptied = await self._transport.call(EmptiedTrash, "DELETE", _PATH)
        return emptied.deleted
