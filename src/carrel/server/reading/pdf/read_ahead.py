"""Parsing pages of a PDF before they are needed, in a thread that does not hold Python's lock."""

from concurrent.futures import Future, ThreadPoolExecutor

from carrel.server.reading.page.parsed import ParsedPage
from carrel.server.reading.pdf.liteparse import parse_pages


class ReadAhead:
    """Parses pages of one PDF, one request after the other: PDFium knows nothing of threads."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._thread = ThreadPoolExecutor(1)
        self._coming: Future[list[ParsedPage]] | None = None
        self.begun: list[int] = []
        """The pages that are parsed now, or were and have not been taken."""

    def begin(self, indexes: list[int]) -> None:
        """Begins to parse pages that will be needed next, or may be."""
        self.begun = indexes
        self._coming = self._parse(indexes) if indexes else None

    def take(self, indexes: list[int]) -> list[ParsedPage]:
        """The pages, as soon as they are parsed; broken ones are left out.

        Raises:
            UnreadableDocument: the PDF is.
        """
        coming = self._coming if self.begun == indexes else None
        self.begun, self._coming = [], None
        return (coming or self._parse(indexes)).result()

    def look(self, indexes: list[int]) -> list[ParsedPage]:
        """Pages that are needed beside those that were begun."""
        return self._parse(indexes).result() if indexes else []

    def take_upright(self, index: int, turn: int) -> ParsedPage | None:
        """A page whose content is turned so many degrees clockwise; None if it is broken."""
        pages = self._parse([index], turn).result()
        return pages[0] if pages else None

    def close(self) -> None:
        """Begins nothing more. What is parsed now is not waited for: it may be hostile."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _parse(self, indexes: list[int], turn: int = 0) -> Future[list[ParsedPage]]:
        return self._thread.submit(parse_pages, self._data, indexes, turn)
