"""Summaries of documents, made one by one while the server is idle.

The rows name the documents that wait, so a crash loses nothing; a document is
ready long before its summary is.
"""

import asyncio
import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from carrel.server.errors import ApiError
from carrel.server.models.engine import Engine
from carrel.server.records import processing
from carrel.server.records.processing import Unsummarised
from carrel.server.records.sql.database import Database
from carrel.text import clean_text

log = logging.getLogger(__name__)

QUIET_SECONDS = 60.0
"""Delay between the end of a document's processing and its summary: others may follow it."""
LOOK_SECONDS = 10.0
_CHARACTERS = 4000
"""Summarised beginning of a document; fits the context of every model."""
_FEW_WORDS = 20
"""A document of no more words is its own summary: a model would invent one."""
_MAX_TOKENS = 120
"""Most tokens of a summary."""
_TOKENS = 2000
_PICTURE_OR_HEADING = re.compile(r"!\[[^\]]*\]\([^)]*\)|^#+ ", re.MULTILINE)
_ASKED = "Summarise this document in one or two plain sentences. Answer with the summary alone.\n\n"


class Summaries:
    """Summarises documents with the current `engine` while nothing is `busy`."""

    def __init__(
        self, database: Database, engine: Callable[[], Engine], busy: Callable[[], bool]
    ) -> None:
        self._database = database
        self._engine = engine
        self._busy = busy

    async def run(self) -> None:
        """Summarise waiting documents as they come. Never returns."""
        while True:
            try:
                async with self._database.lock_if_free("summaries") as first:
                    while first and not self._busy() and await self._summarise_next():
                        pass
            except ApiError as error:
                log.info("no summaries for now: %s", error.message)
            except Exception:
                log.exception("summaries failed; trying again later")
            await asyncio.sleep(LOOK_SECONDS)

    async def _summarise_next(self) -> bool:
        """Summarise one document; return False if none waits or no model can.

        Raises:
            ApiError: there is no model, or it does not answer.
        """
        before = datetime.now(UTC) - timedelta(seconds=QUIET_SECONDS)
        waiting = await self._database.read(
            processing.next_unsummarised, before=before, characters=_CHARACTERS
        )
        if waiting is None:
            return False
        words = _PICTURE_OR_HEADING.sub("", waiting.text).split()
        few = len(words) <= _FEW_WORDS
        if not few and self._engine().is_built_in:
            return False  # it would invent one; the document waits for another model
        summary, tokens = (" ".join(words), 0) if few else await self._ask(waiting)
        await self._database.write(
            processing.save_summary, waiting=waiting, summary=summary or None, tokens=tokens
        )
        return True

    async def _ask(self, waiting: Unsummarised) -> tuple[str, int]:
        engine = self._engine()
        body = {
            "model": (await engine.models())[0].id,
            "messages": [{"role": "user", "content": _ASKED + waiting.text}],
            "max_tokens": _MAX_TOKENS,
            "temperature": 0.2,
        }
        async with engine.session() as session:
            text, tokens = await session.answer(body, _TOKENS)
        return " ".join(clean_text(text).split()), tokens
