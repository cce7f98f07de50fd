"""The models there are."""

from fastapi import APIRouter

from carrel.server.models.embeddings import Embeddings
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.wire.models import ModelList

router = APIRouter(prefix="/v1/models")


@router.get("")
async def list_models(server: CurrentServer, caller: CurrentCaller) -> ModelList:
    own = Embeddings(server.engine, server.library.embedder).models
    return ModelList(data=[*await server.engine.models(), *own])
