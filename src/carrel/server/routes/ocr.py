"""OCR: a document by file, address or data URL in, its pages out."""

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from carrel.server.http.disconnect import LEFT, unless_disconnected
from carrel.server.http.preferences import seconds_waited
from carrel.server.routes.dependencies import CurrentCaller, CurrentServer
from carrel.wire.ocr import OCRRequest, OCRResult

router = APIRouter(prefix="/v1/ocr")


@router.post("", response_model=OCRResult)
async def process(
    body: OCRRequest, request: Request, server: CurrentServer, caller: CurrentCaller
) -> Response:
    try:
        seconds = seconds_waited(request, server.settings.limits.ocr_seconds)
        work = server.ocr.recognise(body, caller, seconds)
        result = await unless_disconnected(request, work)
    except ClientDisconnect:
        return Response(status_code=LEFT)
    return Response(result.model_dump_json(), media_type="application/json")
