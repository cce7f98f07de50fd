"""The open document: OCR of further pages, corrections, and navigation."""

from carrel.store import advice
from carrel.store.core.formatting import count
from carrel.store.documents.corrections import doubtful_words
from carrel.store.documents.service import DocumentsService
from carrel.store.documents.state import DocumentState
from carrel.store.session.formatting import service_words
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import AskNumber
from carrel.tui.dialogs.corrections import Corrections
from carrel.tui.dialogs.ocr import OCRForm
from carrel.tui.dialogs.pages import Contents, Thumbnails
from carrel.tui.theme import labels


async def read_on(place: MainScreen) -> None:
    """Read the unread pages; ask first if they are many."""
    documents = place.store.documents
    state = documents.slice.value
    if documents.large and state.source is not None:
        about = [labels.line(state.source.name, "bold")]
        if not await place.confirm(f"Run OCR of {state.unread:,} pages?", about, "Run OCR"):
            return
    place.do(documents.read())


async def correct(place: MainScreen) -> None:
    """Open the corrections of the document's doubtful words, or of all words of the page if there
    are none."""
    documents = place.store.documents
    state = documents.slice.value
    if not any(state.pages):
        place.notice("No page is read yet.")
        return
    every = not doubtful_words(state.pages, state.corrections)
    correct = Corrections(
        documents, lambda mark, words: place.do(documents.correct(mark, words)), every=every
    )
    await place.ask(correct)


async def go_to_page(place: MainScreen) -> None:
    """Ask for a page number and show that page."""
    documents = place.store.documents
    state = documents.slice.value
    last = state.page_count or 1
    wrong = f"Pages go from 1 to {count(last)}."
    number = await place.ask(AskNumber("Go to page", 1, last, wrong, about=f"1 to {count(last)}"))
    _show_page(documents, state, None if number is None else number - 1)


async def choose_heading(place: MainScreen) -> None:
    """Ask for an entry of the table of contents and show its page."""
    documents = place.store.documents
    state = documents.slice.value
    found = await documents.contents()
    if not found:
        place.notice(advice.NO_CONTENTS)
        return
    page = await place.ask(Contents(found, state.current))
    _show_page(documents, state, page)


async def choose_page(place: MainScreen) -> None:
    """Show small pictures of all pages and go to the chosen one."""
    documents = place.store.documents
    state = documents.slice.value
    if state.no_picture is not None or not state.page_count:
        place.notice(state.no_picture or advice.NOT_COUNTED)
        return
    page = await place.ask(Thumbnails(documents))
    _show_page(documents, state, page)


def _show_page(documents: DocumentsService, asked: DocumentState, page: int | None) -> None:
    """Show a page that was chosen, unless another document was opened meanwhile."""
    if page is not None and documents.slice.value.source == asked.source:
        documents.go(page)


async def read_again(place: MainScreen) -> None:
    """Ask for options and read the document again."""
    documents = place.store.documents
    state = documents.slice.value
    session = place.store.session.slice.value
    form = OCRForm(state.options, state.page_count, service_words(session), session.ocr_models)
    options = await place.ask(form)
    if options is not None:
        place.do(documents.read_again(options))
