"""The list of models, and embeddings."""

from fastapi import APIRouter, Response

from carrel.server.assembly import Server
from carrel.server.errors import ApiError
from carrel.server.models.listing import ocr_cards, with_alias, with_aliases
from carrel.server.models.names import is_chat_name
from carrel.server.models.vectors.embeddings import Embeddings
from carrel.server.routes.dependencies import Context
from carrel.wire.generation.embeddings import EmbeddingList, EmbeddingRequest
from carrel.wire.models import ModelCard, ModelList

router = APIRouter(prefix="/v1")


@router.get("/models")
async def list_models(context: Context) -> ModelList:
    return ModelList(data=with_aliases(await _cards(context.server)))


# A model of an address may have a slash in its name.
@router.get("/models/{model_id:path}")
async def get(model_id: str, context: Context) -> ModelCard:
    cards = await _cards(context.server)
    for card in with_aliases(cards):
        if model_id == card.id:
            return card
    if not context.server.settings.strict_models and is_chat_name(model_id):
        return with_alias(cards[0], model_id)
    raise ApiError(
        404, f"There is no model {model_id[:80]!r}. GET /v1/models lists those there are."
    )


@router.post("/embeddings", response_model=EmbeddingList)
async def create_embeddings(body: EmbeddingRequest, context: Context) -> Response:
    seconds = context.server.settings.limits.completion_seconds
    work = _embeddings(context.server).create(body, seconds=seconds)
    answer = await context.cancel_on_disconnect(work)
    context.spend(answer.usage.total_tokens)
    return Response(answer.model_dump_json(), media_type="application/json")


async def _cards(server: Server) -> list[ModelCard]:
    strict = server.settings.strict_models
    cards = [
        *await server.engine.models(),
        *_embeddings(server).models,
        *ocr_cards(server.settings.vision, strict=strict),
    ]
    # Clients of the chat dialect read a time of every model.
    since = server.engine.since
    return [card.model_copy(update={"created": card.created or since}) for card in cards]


def _embeddings(server: Server) -> Embeddings:
    strict = server.settings.strict_models
    return Embeddings(server.engine, server.library.embedder, strict=strict)
