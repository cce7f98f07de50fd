"""Leases: a workbench says that it is using this server (an extension)."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from carrel.server.http.openapi import EXTENSION
from carrel.server.routes.dependencies import Context

router = APIRouter(prefix="/leases")

LeaseId = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]


@router.put("/{lease_id}", status_code=204, response_class=Response, openapi_extra=EXTENSION)
async def renew_lease(lease_id: LeaseId, context: Context) -> None:
    context.server.leases.renew(lease_id)


@router.delete("/{lease_id}", status_code=204, response_class=Response, openapi_extra=EXTENSION)
async def release_lease(lease_id: LeaseId, context: Context) -> None:
    context.server.leases.release(lease_id)
