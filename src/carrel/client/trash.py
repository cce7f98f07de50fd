"""The trash of a service that has one."""

from collections.abc import AsyncIterator

from carrel.client.http.area import Area
from carrel.client.http.keywords import fields_of
from carrel.client.http.paging import every
from carrel.wire.trash import EmptiedTrash, TrashItem, TrashList, TrashQuery

_PATH = "/v1/trash"


class Trash(Area):
    """`/v1/trash`, an extension; `Client.health` says whether the service has it."""

    @fields_of(TrashQuery)
    async def list(self, query: TrashQuery) -> TrashList:
        """Return a page of what the key's user deleted, the last deleted first.

        Pages count from 0.
        """
        return await self._call(TrashList, "GET", _PATH, query=query)

    def every(self) -> AsyncIterator[TrashItem]:
        """Return everything in the trash, page after page."""
        return every(self.list, lambda item: item.id)

    async def get(self, item_id: str) -> TrashItem:
        """Return an item of the trash."""
        return await self._call(TrashItem, "GET", f"{_PATH}/{{}}", item_id)

    async def restore(self, item_id: str) -> TrashItem:
        """Put an item back, under the id it had."""
        return await self._call(TrashItem, "POST", f"{_PATH}/{{}}/restore", item_id)

    async def delete(self, item_id: str) -> None:
        """Delete an item of the trash for ever."""
        await self._send("DELETE", f"{_PATH}/{{}}", item_id)

    async def empty(self) -> int:
        """Delete everything in the trash for ever; return the number of items."""
        emptied = await self._call(EmptiedTrash, "DELETE", _PATH)
        return emptied.deleted
