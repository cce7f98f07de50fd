"""Is the server there, and can it work."""

from fastapi import APIRouter

router = APIRouter()


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The server answers."""
    return {"status": "ok"}
