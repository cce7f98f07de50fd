"""Activity items for the processing of documents."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from carrel.client.http.errors import NotFound
from carrel.store.activity.service import ActivityService
from carrel.store.activity.state import ActivityItem
from carrel.store.core.problem import Problem
from carrel.store.libraries.phase import UNFINISHED, document_phase, failure_of

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.documents import Document

ASKED_AT_ONCE = 8
"""Most documents whose status is requested by id in one poll."""


class ProcessingItems:
    """Shows unprocessed documents as items until they are ready, failed or gone."""

    def __init__(self, activity: ActivityService, reprocess: Callable[[str, str], object]) -> None:
        self._activity = activity
        self._reprocess = reprocess
        self._unfinished: dict[str, str] = {}
        """The library of each unfinished document by id; the one seen longest ago first."""

    def __bool__(self) -> bool:
        """Return whether any document is unfinished."""
        return bool(self._unfinished)

    def show(self, document: Document) -> None:
        """Show a document's processing as an item."""
        phase, item_id = document_phase(document), _item_id(document.id)
        self._unfinished.pop(document.id, None)
        known = self._activity.find(item_id)
        if phase in UNFINISHED:
            self._unfinished[document.id] = document.library_id
            if known is None or known.ended:
                self._activity.show(
                    ActivityItem(item_id, "processing", document.name, subject=document.id)
                )
                self._activity.set_again(
                    item_id, lambda: self._reprocess(document.library_id, document.id)
                )
        # A synced folder uploads a document first and sets its path afterwards.
        self._activity.change(item_id, name=document.name)
        if phase == "processing":
            self._activity.change(item_id, status="running")
        elif phase == "ready":
            self._activity.change(item_id, status="done")
        elif phase == "failed":
            error = Problem("Processing failed", failure_of(document))
            self._activity.change(item_id, status="failed", error=error)

    async def look(self, client: Client, seen: Collection[str]) -> None:
        """Request the status of unfinished documents that no loaded list contains."""
        elsewhere = [item for item in self._unfinished.items() if item[0] not in seen]
        for document_id, library_id in elsewhere[:ASKED_AT_ONCE]:
            try:
                self.show(await client.documents.get(library_id, document_id))
            except NotFound:
                self._remove(document_id)

    def _remove(self, document_id: str) -> None:
        self._unfinished.pop(document_id, None)
        self._activity.change(_item_id(document_id), status="cancelled")
        self._activity.dismiss(_item_id(document_id))


def _item_id(document_id: str) -> str:
    return f"processing-{document_id}"
