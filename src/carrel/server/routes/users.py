"""The caller and its organisation, as clients ask for them."""

from typing import Annotated

from fastapi import APIRouter, Depends

from carrel.server.records.accounts import users
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer, query_of
from carrel.wire.users import (
    MembershipQuery,
    MemberWorkspace,
    OrganisationList,
    UserIdentity,
    UserPrincipal,
    Whoami,
    WorkspaceList,
)

router = APIRouter(prefix="/v1")

_Query = Annotated[MembershipQuery, Depends(query_of(MembershipQuery))]


@router.get("/users/me")
async def identity(server: CurrentServer, caller: CurrentCaller) -> UserIdentity:
    return await server.database.read(users.identity, caller)


@router.get("/users/me/organizations")
async def organisations(
    server: CurrentServer, caller: CurrentCaller, query: _Query
) -> OrganisationList:
    organisation = (await identity(server, caller)).organization
    return OrganisationList(organizations=[organisation][query.offset :])


@router.get("/users/me/workspaces")
async def workspaces(server: CurrentServer, caller: CurrentCaller, query: _Query) -> WorkspaceList:
    me = await identity(server, caller)
    workspace = MemberWorkspace(
        id=me.workspace.id, name=me.workspace.name, organization_id=me.organization.id
    )
    return WorkspaceList(workspaces=[workspace][query.offset :])


@router.get("/whoami")
async def whoami(server: CurrentServer, caller: CurrentCaller) -> Whoami:
    me = await identity(server, caller)
    return Whoami(
        principal=UserPrincipal(id=me.id, first_name=me.first_name),
        organization=me.organization,
        workspace=me.workspace,
    )
