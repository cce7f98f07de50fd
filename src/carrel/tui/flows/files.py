"""What is done with files that takes more than one answer: links, saving, libraries, narrowing."""

import time
from collections.abc import Sequence
from pathlib import Path

from carrel.store.files.words import facets, link_words
from carrel.store.libraries.state import LibrariesState
from carrel.store.libraries.words import document_count
from carrel.tui.dialogs.ask import Ask, Choose, Thing
from carrel.tui.place import Place
from carrel.tui.terminal.clipboard import copy
from carrel.wire.files import SIGNED_URL_HOURS, File

_ALL = "all"
_NAME = "name"
_ID = "id"
_HOURS = "hours"
_NEW = "new library"


def copy_of(place: Place, file: File) -> None:
    """Copies a file's name, its id, or a link to it that needs no key."""

    def chosen(what: str | None) -> None:
        if what == _NAME:
            _copy(place, file.filename, "Copied the name.")
        elif what == _ID:
            _copy(place, file.id, "Copied the id.")
        elif what == _HOURS:
            first, last = SIGNED_URL_HOURS
            asked = Ask("Copy link", f"For how many hours it works, {first} to {last}")
            place.app.push_screen(asked, typed)
        elif what is not None:
            _copy_link(place, file, int(what))

    def typed(hours: str | None) -> None:
        if hours is None:
            return
        first, last = SIGNED_URL_HOURS
        if hours.isdecimal() and first <= int(hours) <= last:
            _copy_link(place, file, int(hours))
        else:
            place.notice(f"A link works for {first} to {last} whole hours.", failed=True)

    things = [
        Thing("24", "Copy link (24 h)"),
        Thing("1", "Copy link (1 h)"),
        Thing("168", "Copy link (7 days)"),
        Thing(_HOURS, "Copy link, hours…"),
        Thing(_NAME, "Copy name"),
        Thing(_ID, "Copy id"),
    ]
    place.app.push_screen(Choose("Copy", things), chosen)


def _copy_link(place: Place, file: File, hours: int) -> None:
    def signed(url: str) -> None:
        _copy(place, url, f"Copied. {link_words(url, hours, time.time())}")

    place.do(place.store.files.signed_url(file.id, hours), signed)


def _copy(place: Place, text: str, done: str) -> None:
    ok = copy(place.app, text)
    place.notice(done if ok else "Too long for the clipboard of a terminal.", failed=not ok)


def save(place: Place, files: Sequence[File]) -> None:
    """Saves files on this machine; several go into one folder."""

    def chosen(text: str | None) -> None:
        if not text:
            return
        to = Path(text).expanduser()
        if len(files) > 1 and not to.is_dir():
            place.notice(f"There is no folder at {text}.", failed=True)
            return
        for file in files:
            place.do(place.store.files.download(file.id, to))

    what = "A folder or a new file" if len(files) == 1 else f"A folder for {len(files)} files"
    place.app.push_screen(Ask("Save to", what, "~/"), chosen)


def add_to_library(place: Place, files: Sequence[File]) -> None:
    """Puts files into a library that is chosen or made, and goes there."""
    libraries = place.store.libraries

    def add(library_id: str) -> None:
        libraries.select(library_id)
        for file in files:
            place.do(libraries.add_file(library_id, file.id))
        place.open_place("libraries")

    def chosen(library_id: str | None) -> None:
        if library_id == _NEW:
            place.app.push_screen(Ask("New library", "Its name"), named)
        elif library_id:
            add(library_id)

    def named(name: str | None) -> None:
        if name:
            place.do(libraries.create(name), lambda library: add(library.id))

    def choose(state: LibrariesState) -> None:
        things = [
            Thing(library.id, library.name, document_count(library.nb_documents))
            for library in state.items
        ]
        new = Thing(_NEW, "New library…")
        place.app.push_screen(Choose("Add to library", [*things, new]), chosen)

    place.once_loaded(libraries, choose)


def narrow(place: Place) -> None:
    """Shows only files of one purpose, source or type; what is in force is lifted the same way."""
    offered = facets(place.store.files.slice.value)
    wanted = {facet.field: facet.chosen for facet in offered}

    def chosen(answer: str | None) -> None:
        if answer == _ALL:
            place.store.files.show_all()
        elif answer is not None:
            field, _, value = answer.partition(" ")
            wanted[field] = None if wanted[field] == value else value
            place.store.files.narrow(**wanted)  # type: ignore[arg-type]  # words of its own facets

    things = [
        Thing(f"{facet.field} {value}", f"{facet.name}: {value}", _mark(value == facet.chosen))
        for facet in offered
        for value in facet.values
    ]
    place.app.push_screen(Choose("Show only", [Thing(_ALL, "All files"), *things]), chosen)


def _mark(in_force: bool) -> str:
    return "✓ in force; choose it to lift it" if in_force else ""
