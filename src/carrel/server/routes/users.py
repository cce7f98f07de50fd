"""The caller and its organisation, as clients ask for them."""

from fastapi import APIRouter

from carrel.server.records.accounts.caller import identify
from carrel.server.routes.dependencies import Context, InQuery
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

_Query = InQuery[MembershipQuery]


@router.get("/users/me")
async def identity(context: Context) -> UserIdentity:
    return await context.read(identify)


@router.get("/users/me/organizations")
async def organisations(context: Context, query: _Query) -> OrganisationList:
    organisation = (await identity(context)).organization
    return OrganisationList(organizations=[organisation][query.offset :])


@router.get("/users/me/workspaces")
async def workspaces(context: Context, query: _Query) -> WorkspaceList:
    me = await identity(context)
    workspace = MemberWorkspace(
        id=me.workspace.id, name=me.workspace.name, organization_id=me.organization.id
    )
    return WorkspaceList(workspaces=[workspace][query.offset :])


@router.get("/whoami")
async def whoami(context: Context) -> Whoami:
    me = await identity(context)
    return Whoami(
        principal=UserPrincipal(id=me.id, first_name=me.first_name),
        organization=me.organization,
        workspace=me.workspace,
    )
