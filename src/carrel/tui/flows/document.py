"""OCR of the open document: of its other pages, or again with other options."""

from carrel.store.documents.corrections import doubtful_words
from carrel.store.session.formatting import service_words
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.corrections import Corrections
from carrel.tui.dialogs.ocr import OCRForm
from carrel.tui.theme import labels


async def read_on(place: MainScreen) -> None:
    """Read the pages that are not read yet; asks first where they are many."""
    documents = place.store.documents
    state = documents.slice.value
    if documents.large and state.source is not None:
        about = [labels.line(state.source.name, "bold")]
        if not await place.confirm(f"Run OCR of {state.unread:,} pages?", about, "Run OCR"):
            return
    place.do(documents.read())


async def correct(place: MainScreen) -> None:
    """Show the doubtful words of the document, to be corrected."""
    documents = place.store.documents
    state = documents.slice.value
    if not doubtful_words(state.pages, state.corrections):
        place.notice("No doubtful words on the pages read so far.")
        return
    await place.ask(
        Corrections(documents, lambda mark, words: place.do(documents.correct(mark, words)))
    )


async def read_again(place: MainScreen) -> None:
    """Read the document again, with the options that are chosen."""
    documents = place.store.documents
    state = documents.slice.value
    session = place.store.session.slice.value
    form = OCRForm(state.options, state.page_count, service_words(session), session.ocr_models)
    options = await place.ask(form)
    if options is not None:
        place.do(documents.read_again(options))
