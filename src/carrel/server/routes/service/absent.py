"""Operations of the interface that this server does not have, refused in a sentence."""

from fastapi import APIRouter

from carrel.server.errors import ApiError

router = APIRouter(prefix="/v1", include_in_schema=False)


@router.post("/fim/completions")
async def fill_in_the_middle() -> None:
    raise ApiError(
        501, "This server does not fill in the middle of code. Ask POST /v1/chat/completions."
    )


@router.post("/moderations")
@router.post("/chat/moderations")
@router.post("/classifications")
@router.post("/chat/classifications")
async def moderate() -> None:
    raise ApiError(501, "This server has no model that moderates or classifies.")
