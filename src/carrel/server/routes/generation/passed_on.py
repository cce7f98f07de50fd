"""Operations of model addresses, passed on: the built-in models lack them."""

import asyncio
import json

from fastapi import APIRouter, Response

from carrel.server.errors import ApiError
from carrel.server.routes.dependencies import Context

router = APIRouter(prefix="/v1", include_in_schema=False)

_PREFIX = "/v1"
_ABSENT = {
    "/v1/fim/completions": "does not fill in the middle of code. Ask POST /v1/chat/completions",
    "/v1/audio/transcriptions": "has no model that hears",
    "/v1/audio/translations": "has no model that hears",
}


@router.post("/fim/completions")
@router.post("/moderations")
@router.post("/chat/moderations")
@router.post("/classifications")
@router.post("/chat/classifications")
@router.post("/audio/transcriptions")
@router.post("/audio/translations")
async def pass_on(context: Context) -> Response:
    request, server = context.request, context.server
    content = await request.body()
    kind = request.headers.get("content-type", "application/json")
    path = request.url.path
    work = server.engine.pass_on(path.removeprefix(_PREFIX), content, kind, model=_model(content))
    try:
        async with asyncio.timeout(server.settings.limits.completion_seconds):
            answer = await context.cancel_on_disconnect(work)
    except TimeoutError:
        raise ApiError(504, "The model's address took too long to answer. Try again.") from None
    if answer is None:
        words = _ABSENT.get(path, "has no model that moderates or classifies")
        raise ApiError(501, f"This server {words}, and no model address offers it.")
    return Response(answer.content, media_type=answer.media_type)


def _model(content: bytes) -> str | None:
    """Return the model that a request in JSON names."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    model = body.get("model") if isinstance(body, dict) else None
    return model if isinstance(model, str) else None
