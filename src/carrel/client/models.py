"""The models of a service."""

from carrel.client.http.transport import Transport
from carrel.wire.models import ModelList


class Models:
    """`/v1/models`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> ModelList:
        """Return the models a service offers."""
        return await self._transport.call(ModelList, "GET", "/v1/models")
