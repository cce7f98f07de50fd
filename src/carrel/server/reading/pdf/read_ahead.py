"""Read-ahead: parse pages of a PDF before they are needed, in a thread that releases the GIL."""

from concurrent.futures import Future, ThreadPoolExecutor

from carrel.server.reading.fence import fenced
from carrel.server.reading.page.parsed import ParsedPage
from carrel.server.reading.pdf.liteparse import parse_pages


class ReadAhead:
    """Parse pages of one PDF, one request at a time: PDFium is not thread-safe."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._thread = ThreadPoolExecutor(1)
        self._coming: Future[list[ParsedPage]] | None = None
        self.begun: list[int] = []
        """Pages being parsed, or parsed and not yet taken."""

    def begin(self, indexes: list[int]) -> None:
        """Start parsing pages that are, or may be, needed next."""
        self.begun = indexes
        self._coming = self._parse(indexes) if indexes else None

    def take(self, indexes: list[int]) -> list[ParsedPage]:
        """Return the pages once they are parsed, without broken ones."""
        coming = self._coming if self.begun == indexes else None
        self.begun, self._coming = [], None
        return (coming or self._parse(indexes)).result()

    def look(self, indexes: list[int]) -> list[ParsedPage]:
        """Parse pages needed besides those already begun."""
        return self._parse(indexes).result() if indexes else []

    def take_upright(self, index: int, turn: int) -> ParsedPage | None:
        """Parse a page with content rotated by `turn` degrees clockwise; None if it is broken."""
        pages = self._parse([index], turn).result()
        return pages[0] if pages else None

    def close(self) -> None:
        """Cancel queued requests; do not await the running one, whose file may be hostile."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _parse(self, indexes: list[int], turn: int = 0) -> Future[list[ParsedPage]]:
        return self._thread.submit(_parsed, self._data, indexes, turn)


def _parsed(data: bytes, indexes: list[int], turn: int) -> list[ParsedPage]:
    return fenced("parser", parse_pages, data, indexes, turn) or []
