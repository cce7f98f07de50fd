"""Files: upload, OCR, links, saving, filling a library, narrowing the list, deleting."""

import time
from collections.abc import Sequence
from pathlib import Path

from carrel.store.batches.words import AS_A_BATCH, MANY, NOW
from carrel.store.cache.copies import DocumentSource
from carrel.store.files.words import facets, link_words
from carrel.store.libraries.words import document_count
from carrel.tui.dialogs.ask import Ask, Thing
from carrel.tui.dialogs.path import PathDialog
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.files import SIGNED_URL_HOURS, File

_ALL = "all"
_NAME = "name"
_ID = "id"
_HOURS = "hours"
_NEW = "new library"


async def upload(place: Place) -> None:
    """Uploads files that are named by their paths."""
    if files := await place.ask(PathDialog()):
        place.workbench.upload(files)


async def run_ocr(place: Place, sources: Sequence[DocumentSource]) -> None:
    """Reads several files; asks first where the service bills for it, and whether as one job."""
    hosted = place.store.session.slice.value.hosted
    if hosted and len(sources) >= MANY:
        things = [Thing(*NOW), Thing(*AS_A_BATCH)]
        chosen = await place.choose(f"Run OCR of {len(sources)} files", things)
        if chosen is None:
            return
        if chosen == AS_A_BATCH[0]:
            await _as_a_batch(place, sources)
            return
    if hosted:
        names = labels.names(source.name for source in sources)
        if not await place.confirm(f"Run OCR of {len(sources)} files?", names, "Run OCR"):
            return
    place.do(place.store.batch.read(sources))
    place.notice(f"{len(sources)} files wait for OCR: Activity shows each.")


async def _as_a_batch(place: Place, sources: Sequence[DocumentSource]) -> None:
    names = labels.names(source.name for source in sources)
    if await place.confirm(f"Run OCR of {len(sources)} files as one batch job?", names, "Run OCR"):
        place.do(
            place.store.batches.read(sources),
            lambda _: place.notice("The batch job is on its way: Activity shows it."),
        )


async def copy_part(place: Place, file: File) -> None:
    """Copies a file's name, its id, or a link to it that needs no key."""
    things = [
        Thing("24", "Copy link (24 h)"),
        Thing("1", "Copy link (1 h)"),
        Thing("168", "Copy link (7 days)"),
        Thing(_HOURS, "Copy link, hours…"),
        Thing(_NAME, "Copy name"),
        Thing(_ID, "Copy id"),
    ]
    chosen = await place.choose("Copy", things)
    if chosen == _NAME:
        place.copy(file.filename, "Copied the name.")
    elif chosen == _ID:
        place.copy(file.id, "Copied the id.")
    elif chosen is not None:
        hours = await _ask_hours(place) if chosen == _HOURS else int(chosen)
        if hours and (url := await place.finish(place.store.files.signed_url(file.id, hours))):
            place.copy(url, f"Copied. {link_words(url, hours, time.time())}")


async def _ask_hours(place: Place) -> int | None:
    """The hours for which a link works; None where none were given."""
    first, last = SIGNED_URL_HOURS
    hours = await place.ask(Ask("Copy link", f"For how many hours it works, {first} to {last}"))
    if hours is None:
        return None
    if hours.isdecimal() and first <= int(hours) <= last:
        return int(hours)
    place.notice(f"A link works for {first} to {last} whole hours.", failed=True)
    return None


async def save(place: Place, files: Sequence[File]) -> None:
    """Saves files on this machine; several go into one folder."""
    title = "Save to" if len(files) == 1 else f"Save {len(files)} files to"
    where = "A folder or a new file" if len(files) == 1 else "A folder"
    if text := await place.ask(Ask(title, where, "~/")):
        _download(place, files, text)


def _download(place: Place, files: Sequence[File], text: str) -> None:
    path = Path(text).expanduser()
    if len(files) > 1 and not path.is_dir():
        place.notice(f"There is no folder at {text}.", failed=True)
        return
    for file in files:
        place.do(place.store.files.download(file.id, path))


async def add_to_library(place: Place, files: Sequence[File]) -> None:
    """Puts files into a library that is chosen or made, and goes there."""
    libraries = place.store.libraries
    state = await place.load(libraries)
    if state is None:
        return
    things = [Thing(each.id, each.name, document_count(each.nb_documents)) for each in state.items]
    new = Thing(_NEW, "New library…")
    title = "Add to library" if len(files) == 1 else f"Add {len(files)} files to library"
    library_id = await place.choose(title, [*things, new])
    if library_id == _NEW:
        title = "New library" if len(files) == 1 else f"New library for {len(files)} files"
        name = await place.ask(Ask(title, "Its name"))
        if name is None:
            return
        made = await place.finish(libraries.create(name))
        library_id = made.id if made else None
    if library_id is None:
        return
    libraries.select(library_id)
    for file in files:
        place.do(libraries.add_file(library_id, file.id))
    place.open_place("libraries")


async def narrow(place: Place) -> None:
    """Shows only files of one purpose, source or type; what is in force is lifted the same way."""
    offered = facets(place.store.files.slice.value)
    wanted = {facet.field: facet.chosen for facet in offered}
    things = [
        Thing(f"{facet.field} {value}", f"{facet.name}: {value}", _mark(value == facet.chosen))
        for facet in offered
        for value in facet.values
    ]
    answer = await place.choose("Show only", [Thing(_ALL, "All files"), *things])
    if answer == _ALL:
        place.store.files.show_all()
    elif answer is not None:
        field, _, value = answer.partition(" ")
        wanted[field] = None if wanted[field] == value else value
        place.store.files.narrow(**wanted)  # type: ignore[arg-type]  # words of its own facets


def _mark(in_force: bool) -> str:
    return "✓ in force; choose it to lift it" if in_force else ""


async def delete(place: Place, files: Sequence[File]) -> None:
    """Deletes files of the service."""
    names = labels.names(file.filename for file in files)
    these = "this file" if len(files) == 1 else f"these {len(files)} files"
    if await place.confirm_delete(f"Delete {these}?", names):
        place.do(place.store.files.delete([file.id for file in files]))
