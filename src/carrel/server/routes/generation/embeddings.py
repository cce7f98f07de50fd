"""Embeddings."""

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.models.vectors.embeddings import Embeddings
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.wire.generation.embeddings import EmbeddingList, EmbeddingRequest

router = APIRouter(prefix="/v1/embeddings")


@router.post("", response_model=EmbeddingList)
async def create(
    body: EmbeddingRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    strict = server.settings.strict_models
    embeddings = Embeddings(server.engine, server.library.embedder, strict=strict)
    seconds = server.settings.limits.completion_seconds
    try:
        answer = await unless_disconnected(request, embeddings.create(body, seconds=seconds))
    except ClientDisconnect:
        return Response(status_code=LEFT)
    request.state.tokens = answer.usage.total_tokens
    return Response(answer.model_dump_json(), media_type="application/json")
