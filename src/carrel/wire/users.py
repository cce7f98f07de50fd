"""The caller: a user, and the organisation and workspace that a key belongs to."""

from typing import Annotated

from pydantic import BaseModel, Field

from carrel.wire.base import Count, ResponseModel


class Organisation(ResponseModel):
    id: str
    name: str


class Workspace(Organisation):
    """A workspace. On the bundled server each organisation is one workspace."""


class MemberWorkspace(Workspace):
    """A workspace with its organisation."""

    organization_id: str


class UserIdentity(ResponseModel):
    """The user behind a key."""

    id: str
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    workspace: Workspace
    organization: Organisation


class UserPrincipal(ResponseModel):
    principal_type: str = "user"
    id: str
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None


class Whoami(ResponseModel):
    """The caller, whatever kind of account it is; the bundled server has users alone."""

    principal: UserPrincipal
    organization: Organisation
    workspace: Workspace


class OrganisationList(ResponseModel):
    organizations: list[Organisation]


class WorkspaceList(ResponseModel):
    workspaces: list[MemberWorkspace]


class MembershipQuery(BaseModel):
    """A page of organisations or workspaces."""

    offset: Count = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
