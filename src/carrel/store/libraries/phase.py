"""The processing phase of a document."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from carrel.store.core.problem import ProblemError

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.documents import Document


DocumentPhase = Literal["queued", "processing", "ready", "failed"]

UNFINISHED: tuple[DocumentPhase, ...] = ("queued", "processing")
"""Phases that are not final."""

_PHASES: dict[str, DocumentPhase] = {
    "todo": "queued",
    "waiting_for_capacity": "queued",
    "in_progress": "processing",
    "done": "ready",
    "noop": "ready",
    "self_managed": "ready",
    "error": "failed",
    "missing_content": "failed",
    # Values of the older field, for services without the newer.
    "Running": "processing",
    "Completed": "ready",
    "Error": "failed",
}


def document_phase(document: Document) -> DocumentPhase:
    """Return the processing phase of a document.

    An unknown status counts as ready, so that nothing waits for it.
    """
    word = document.process_status or document.processing_status
    return _PHASES.get(word) or _PHASES.get(document.processing_status, "ready")


async def wait_processed(client: Client, document: Document, every: float) -> Document:
    """Wait until a document is processed, asking every few seconds; return its final state."""
    while document_phase(document) in UNFINISHED:
        await asyncio.sleep(every)
        document = await client.documents.get(document.library_id, document.id)
    return document


def failure_of(document: Document) -> str:
    """Return why a document was not processed."""
    return document.error or "The service gives no reason."


def check_processed(document: Document) -> None:
    """Check the outcome of a document's processing.

    Raises:
        ProblemError: it failed.
    """
    if document_phase(document) == "failed":
        raise ProblemError(f"{document.name} was not processed", failure_of(document))
