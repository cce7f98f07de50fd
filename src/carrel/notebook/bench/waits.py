"""Waits on the store's loop until documents are read or processed."""

import asyncio

from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.watch import until
from carrel.store.core.formatting import count
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.documents.reader import OCROptions
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.state import DocumentState
from carrel.store.session.state import SessionState
from carrel.store.store import Store
from carrel.wire.ocr import Page


async def await_service(store: Store) -> None:
    """Wait until the service has answered.

    Raises:
        ProblemError: it refuses this profile.
    """
    await until(store.session.slice, lambda state: state.connection not in ("starting", "lost"))
    await store.session.ready()


async def read(
    store: Store,
    service: DocumentsService,
    source: DocumentSource,
    options: OCROptions,
    max_pages: int,
) -> tuple[Page, ...]:
    """Open a document and wait until the pages of the options are read.

    Raises:
        ProblemError: the reading failed, or a hosted service has more than `max_pages` to read.
    """
    activity, session = store.activity, store.session.slice.value
    await service.open(source, options=options)
    if session.hosted and service.slice.value.unread > max_pages:
        await service.stop()
        raise ProblemError(
            _pages_problem(source.name, service.slice.value.unread, max_pages, session)
        )
    if service.large:  # only the user may confirm that many pages
        service.read()
    if service.slice.value.complete:  # every page was cached
        return _read_pages(service.slice.value)

    def find_reading(state: ActivityState) -> ActivityItem | None:
        items = (item for item in state.items if item.kind == "ocr" and item.subject == source.id)
        return next(items, None)

    try:
        ended = await until(
            activity.slice, lambda state: (one := find_reading(state)) is None or one.ended
        )
    except asyncio.CancelledError:
        service.stop()
        raise
    item = find_reading(ended)
    if item is not None and item.error is not None:
        raise ProblemError(item.error)
    if item is not None and item.status == "cancelled":
        raise asyncio.CancelledError
    return _read_pages(service.slice.value)


def _read_pages(state: DocumentState) -> tuple[Page, ...]:
    # Pages read before that are not requested now are there too.
    found = (state.pages[number] for number in sorted(state.wanted))
    return tuple(page for page in found if page is not None)


def _pages_problem(name: str, unread: int, most: int, session: SessionState) -> Problem:
    return Problem(
        f"{name} has {count(unread)} pages that are not read yet",
        f"Profile {session.profile} is a hosted service that bills pages, and the limit of this "
        f"call is {count(most)}.",
        f"To read them, pass max_pages={unread}.",
    )
