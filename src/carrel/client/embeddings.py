"""Embeddings of texts."""

from carrel.client.http.area import Area
from carrel.client.http.keywords import fields_of
from carrel.wire.generation.embeddings import EmbeddingList, EmbeddingRequest


class Embeddings(Area):
    """`/v1/embeddings`."""

    @fields_of(EmbeddingRequest)
    async def create(self, request: EmbeddingRequest) -> EmbeddingList:
        """Return the vectors of texts in order.

        `request`: an EmbeddingRequest, or its fields as keywords.
        """
        return await self._call(EmbeddingList, "POST", "/v1/embeddings", body=request.body())
