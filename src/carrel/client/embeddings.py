"""Texts as vectors."""

from carrel.client.http.keywords import fields_of
from carrel.client.http.transport import Transport
from carrel.wire.generation.embeddings import EmbeddingList, EmbeddingRequest


class Embeddings:
    """`/v1/embeddings`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @fields_of(EmbeddingRequest)
    async def create(self, request: EmbeddingRequest) -> EmbeddingList:
        """Return the vectors of texts, in their order.

        `request`: an EmbeddingRequest, or its fields as keywords.
        """
        return await self._transport.call(
            EmbeddingList, "POST", "/v1/embeddings", body=request.body()
        )
