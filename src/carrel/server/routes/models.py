"""The models there are."""

from fastapi import APIRouter

from carrel.server.assembly import Server
from carrel.server.errors import ApiError
from carrel.server.models.embeddings import Embeddings
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.wire.models import ModelCard, ModelList

router = APIRouter(prefix="/v1/models")


@router.get("")
async def list_models(server: CurrentServer, caller: CurrentCaller) -> ModelList:
    return ModelList(data=await _cards(server))


# A model of an address may have a slash in its name.
@router.get("/{model_id:path}")
async def get(model_id: str, server: CurrentServer, caller: CurrentCaller) -> ModelCard:
    for card in await _cards(server):
        if model_id == card.id or model_id in (card.aliases or ()):
            return card
    raise ApiError(
        404, f"There is no model {model_id[:80]!r}. GET /v1/models lists those there are."
    )


async def _cards(server: Server) -> list[ModelCard]:
    own = Embeddings(server.engine, server.library.embedder).models
    return [*await server.engine.models(), *own]
