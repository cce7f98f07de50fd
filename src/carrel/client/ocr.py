"""OCR of documents."""

from carrel.client.http.area import Area
from carrel.client.http.keywords import fields_of
from carrel.wire.ocr import OCRRequest, OCRResult

# Without this, the bundled server ends the reading of a long scan after 240 seconds.
_WAIT = 86_400
"""Timeout in seconds that a service is asked for; the client itself has none."""


class OCR(Area):
    """`/v1/ocr`."""

    @fields_of(OCRRequest)
    async def process(self, request: OCRRequest) -> OCRResult:
        """Read the pages of a document, without a timeout.

        `request`: an OCRRequest, or its fields as keywords.
        """
        return await self._call(
            OCRResult,
            "POST",
            "/v1/ocr",
            body=request.body(),
            unhurried=True,
            prefer=f"wait={_WAIT}",
        )
