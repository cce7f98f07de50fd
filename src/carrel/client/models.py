"""The models of a service."""

from carrel.client.http.area import Area
from carrel.wire.models import ModelList


class Models(Area):
    """`/v1/models`."""

    async def list(self) -> ModelList:
        """Return the models a service offers."""
        return await self._call(ModelList, "GET", "/v1/models")
