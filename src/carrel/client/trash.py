"""The trash of a service that has one."""

from collections.abc import AsyncIterator

from carrel.client.http.area import Area, every
from carrel.client.http.keywords import fields_of
from carrel.wire.trash import EmptiedTrash, TrashItem, TrashList, TrashQuery

_PATH = "/v1/trash"


class Trash(Area):
    """`/v1/trash`, an extension; `Client.health` tells whether the service has it."""

    @fields_of(TrashQuery)
    async def list(self, query: TrashQuery) -> TrashList:
        """Return a page of the items that the key's user deleted, last deleted first.

        Pages count from 0.
        """
        return await self._call(TrashList, "GET", _PATH, query=query)

    def every(self) -> AsyncIterator[TrashItem]:
        """Return all items of the trash, page by page."""
        return every(self.list, lambda item: item.id)

    async def get(self, item_id: str) -> TrashItem:
        """Return an item of the trash."""
        return await self._call(TrashItem, "GET", f"{_PATH}/{{}}", item_id)

    async def restore(self, item_id: str) -> TrashItem:
        """Restore an item under its former id."""
        return await self._call(TrashItem, "POST", f"{_PATH}/{{}}/restore", item_id)

    async def delete(self, item_id: str) -> None:
        """Delete an item of the trash for good."""
        await self._send("DELETE", f"{_PATH}/{{}}", item_id)

    async def empty(self) -> int:
        """Delete all items of the trash for good; return their number."""
        emptied = await self._call(EmptiedTrash, "DELETE", _PATH)
        return emptied.deleted
