"""The processing phase of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
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
