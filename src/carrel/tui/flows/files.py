"""Files: upload, OCR, links, saving, adding to a library, filtering, deleting."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from carrel.store.batches.formatting import AS_A_BATCH, MANY, NOW
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.formatting import count, counted, size
from carrel.store.files.formatting import facets, link_words
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, AskNumber, Option, copy_options
from carrel.tui.dialogs.core.path import PathDialog
from carrel.tui.theme import labels
from carrel.wire.files import SIGNED_URL_HOURS, File

ASKED_ABOVE = 50
"""Number of files above which a drop or paste needs confirmation."""
FEW = 5
"""Most files whose arrival the cursor follows."""
_ALL = "all"
_NEW = "new library"


async def upload(place: MainScreen) -> None:
    """Ask for paths and upload the files."""
    if files := await place.ask(PathDialog("Upload")):
        place.workbench.upload(files)


async def upload_all(
    place: MainScreen, files: Sequence[Path], uploaded: Callable[[File], object]
) -> None:
    """Upload files and open the screen that shows them."""
    if not await confirm_upload(place, files):
        return
    for file in files:
        # The cursor follows a few files, not many.
        place.do(place.store.files.upload(file), uploaded if len(files) <= FEW else None)
    place.open_place("files")


async def confirm_upload(place: MainScreen, files: Sequence[Path]) -> bool:
    """Ask before uploading many files, with their number and size; return True for a few."""
    if len(files) <= ASKED_ABOVE:
        return True
    total = await asyncio.to_thread(_bytes, files)
    title = f"Upload {count(len(files))} files ({size(total)})?"
    return await place.confirm(title, labels.names(file.name for file in files), "Upload")


def _bytes(files: Sequence[Path]) -> int:
    total = 0
    for file in files:
        with contextlib.suppress(OSError):  # the upload reports the reason
            total += file.expanduser().stat().st_size
    return total


async def run_ocr(place: MainScreen, sources: Sequence[DocumentSource]) -> None:
    """Read several files; ask first if the service bills for it, and whether to use a batch job."""
    hosted = place.store.session.slice.value.hosted
    if hosted and len(sources) >= MANY:
        options = [Option(*NOW), Option(*AS_A_BATCH)]
        chosen = await place.choose(f"Run OCR of {len(sources)} files", options)
        if chosen is None:
            return
        if chosen == AS_A_BATCH[0]:
            await _read_as_batch(place, sources)
            return
    if hosted:
        names = labels.names(source.name for source in sources)
        if not await place.confirm(f"Run OCR of {len(sources)} files?", names, "Run OCR"):
            return
    place.do(place.store.ocr_batch.read(sources))
    place.notice(f"{len(sources)} files wait for OCR: Activity shows each.")


async def _read_as_batch(place: MainScreen, sources: Sequence[DocumentSource]) -> None:
    names = labels.names(source.name for source in sources)
    if await place.confirm(f"Run OCR of {len(sources)} files as one batch job?", names, "Run OCR"):
        place.do(
            place.store.batches.read(sources),
            lambda _: place.notice("The batch job is on its way: Activity shows it."),
        )


async def copy_part(place: MainScreen, file: File) -> None:
    """Copy a file's name, its id, or a link that needs no key."""
    links = {"link (24 h)": 24, "link (1 h)": 1, "link (7 days)": 168, "link, hours…": None}
    texts = {"name": file.filename, "id": file.id}
    chosen = await place.choose("Copy", copy_options(dict.fromkeys([*links, *texts], "")))
    if chosen in texts:
        place.copy(texts[chosen], f"Copied the {chosen}.")
    elif chosen is not None and (hours := links[chosen] or await _ask_hours(place)):
        url = await place.store.files.signed_url(file.id, hours)
        place.copy(url, f"Copied. {link_words(url, hours, time.time())}")


async def _ask_hours(place: MainScreen) -> int | None:
    """Ask for the validity of a link in hours; return None if none was entered."""
    first, last = SIGNED_URL_HOURS
    about = f"Hours until the link expires, {first} to {last}"
    wrong = f"A link works for {first} to {last} whole hours."
    return await place.ask(AskNumber("Copy link", first, last, wrong, about=about))


async def save(place: MainScreen, files: Sequence[File]) -> None:
    """Save files on this machine; several need a folder."""
    title = "Save to" if len(files) == 1 else f"Save {len(files)} files to"
    where = "A folder or a new file" if len(files) == 1 else "A folder"
    if text := await place.ask(Ask(title, where, "~/")):
        _download(place, files, text)


def _download(place: MainScreen, files: Sequence[File], text: str) -> None:
    path = Path(text).expanduser()
    if len(files) > 1 and not path.is_dir():
        place.notice(f"There is no folder at {text}.", failed=True)
        return
    for file in files:
        place.do(place.store.files.download(file.id, path))


async def add_to_library(place: MainScreen, files: Sequence[File]) -> None:
    """Add files to a chosen or new library, and open it."""
    libraries = place.store.libraries
    state = await place.load(libraries)
    options = [
        Option(item.id, item.name, counted(item.nb_documents, "document")) for item in state.items
    ]
    new = Option(_NEW, "New library…", key="n")
    title = "Add to library" if len(files) == 1 else f"Add {len(files)} files to library"
    library_id = await place.choose(title, [*options, new])
    if library_id == _NEW:
        title = "New library" if len(files) == 1 else f"New library for {len(files)} files"
        name = await place.ask(Ask(title, "Its name"))
        if name is None:
            return
        library_id = (await libraries.create(name)).id
    if library_id is None:
        return
    libraries.select(library_id)
    for file in files:
        place.do(libraries.add_file(library_id, file.id))
    place.open_place("libraries")


async def narrow(place: MainScreen) -> None:
    """Filter the files by purpose, source or type; a second choice of an active filter removes
    it."""
    offered = facets(place.store.files.slice.value)
    wanted = {facet.field: facet.chosen for facet in offered}
    now = "✓ current; choose it to remove it"
    options = [
        Option(f"{facet.field} {value}", f"{facet.name}: {value}", now * (value == facet.chosen))
        for facet in offered
        for value in facet.values
    ]
    answer = await place.choose("Show only", [Option(_ALL, "All files", key="a"), *options])
    if answer == _ALL:
        place.store.files.show_all()
    elif answer is not None:
        field, _, value = answer.partition(" ")
        wanted[field] = None if wanted[field] == value else value
        place.store.files.narrow(**wanted)  # type: ignore[arg-type]  # words of its own facets


async def delete(place: MainScreen, files: Sequence[File]) -> None:
    """Delete files of the service."""
    names = labels.names(file.filename for file in files)
    these = "this file" if len(files) == 1 else f"these {len(files)} files"
    if await place.confirm_delete(f"Delete {these}?", names):
        place.do(place.store.files.delete([file.id for file in files]))
