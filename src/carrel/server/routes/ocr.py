"""OCR: a document by file, address or data URL in, its pages out."""

from fastapi import APIRouter, Response

from carrel.server.http.preferences import seconds_waited
from carrel.server.routes.dependencies import Context
from carrel.wire.ocr import OCRRequest, OCRResult

router = APIRouter(prefix="/v1/ocr")


@router.post("", response_model=OCRResult)
async def process(body: OCRRequest, context: Context) -> Response:
    seconds = seconds_waited(context.request, context.server.settings.limits.ocr_seconds)
    work = context.server.ocr.recognise(body, context.caller, seconds)
    result = await context.cancel_on_disconnect(work)
    return Response(result.model_dump_json(), media_type="application/json")
