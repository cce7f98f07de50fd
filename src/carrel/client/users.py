"""The caller of a service."""

from carrel.client.http.area import Area
from carrel.wire.users import OrganisationList, UserIdentity, Whoami, WorkspaceList

_ME = "/v1/users/me"


class Users(Area):
    """`/v1/users/me` and `/v1/whoami`."""

    async def me(self) -> UserIdentity:
        """Return the user behind the key."""
        return await self._call(UserIdentity, "GET", _ME)

    async def organisations(self) -> OrganisationList:
        """Return the organisations of the user."""
        return await self._call(OrganisationList, "GET", f"{_ME}/organizations")

    async def workspaces(self) -> WorkspaceList:
        """Return the workspaces of the user."""
        return await self._call(WorkspaceList, "GET", f"{_ME}/workspaces")

    async def whoami(self) -> Whoami:
        """Return the caller with any kind of account."""
        return await self._call(Whoami, "GET", "/v1/whoami")
