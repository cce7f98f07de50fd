"""The trash: deleted items, restored or deleted for ever."""

from fastapi import APIRouter, Response

from carrel.server.http.openapi import EXTENSION
from carrel.server.records import restoring, trash
from carrel.server.routes.dependencies import Context, InQuery
from carrel.wire.trash import EmptiedTrash, TrashItem, TrashList, TrashQuery

router = APIRouter(prefix="/v1/trash")


@router.get("", openapi_extra=EXTENSION)
async def list_trash(context: Context, query: InQuery[TrashQuery]) -> TrashList:
    """Return what the caller deleted, the last deleted first; an extension of this server."""
    return await context.read(trash.page, query)


@router.get("/{item_id}", openapi_extra=EXTENSION)
async def get_item(item_id: str, context: Context) -> TrashItem:
    """Return an item that the caller deleted; an extension of this server."""
    return await context.read(trash.get, item_id)


@router.post("/{item_id}/restore", openapi_extra=EXTENSION)
async def restore(item_id: str, context: Context) -> TrashItem:
    """Put an item back with its id; an extension of this server."""
    enqueue = context.server.library.enqueue
    return await context.write(restoring.restore, item_id, enqueue=enqueue)


@router.delete("/{item_id}", status_code=204, response_class=Response, openapi_extra=EXTENSION)
async def delete_for_ever(item_id: str, context: Context) -> None:
    """Delete an item of the trash for ever; an extension of this server."""
    await context.write(trash.delete_for_ever, item_id)


@router.delete("", openapi_extra=EXTENSION)
async def empty_trash(context: Context) -> EmptiedTrash:
    """Delete everything in the caller's trash for ever; an extension of this server."""
    deleted = await context.write(trash.empty)
    return EmptiedTrash(deleted=deleted)
