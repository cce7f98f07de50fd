"""The trash: deleted items, restored or deleted for ever."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from carrel.server.http.openapi import EXTENSION
from carrel.server.records import restoring, trash
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer, query_of
from carrel.wire.trash import EmptiedTrash, TrashItem, TrashList, TrashQuery

router = APIRouter(prefix="/v1/trash")


@router.get("", openapi_extra=EXTENSION)
async def list_trash(
    server: CurrentServer,
    caller: CurrentCaller,
    query: Annotated[TrashQuery, Depends(query_of(TrashQuery))],
) -> TrashList:
    """Return what the caller deleted, the last deleted first; an extension of this server."""
    return await server.database.read(trash.page, caller, query)


@router.get("/{item_id}", openapi_extra=EXTENSION)
async def get_item(item_id: str, server: CurrentServer, caller: CurrentCaller) -> TrashItem:
    """Return an item that the caller deleted; an extension of this server."""
    return await server.database.read(trash.get, caller, item_id)


@router.post("/{item_id}/restore", openapi_extra=EXTENSION)
async def restore(item_id: str, server: CurrentServer, caller: CurrentCaller) -> TrashItem:
    """Put an item back with its id; an extension of this server."""
    enqueue = server.library.enqueue
    return await server.database.write(restoring.restore, caller, item_id, enqueue=enqueue)


@router.delete("/{item_id}", status_code=204, response_class=Response, openapi_extra=EXTENSION)
async def delete_for_ever(item_id: str, server: CurrentServer, caller: CurrentCaller) -> None:
    """Delete an item of the trash for ever; an extension of this server."""
    await server.database.write(trash.delete_for_ever, caller, item_id)


@router.delete("", openapi_extra=EXTENSION)
async def empty_trash(server: CurrentServer, caller: CurrentCaller) -> EmptiedTrash:
    """Delete everything in the caller's trash for ever; an extension of this server."""
    deleted = await server.database.write(trash.empty, caller)
    return EmptiedTrash(deleted=deleted)
