"""What has to happen for a library to hold what a folder holds. Pure."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from carrel.text import clean_text


@dataclass(frozen=True, slots=True)
class Known:
    """A document that the folder's last sync left in the library, by its content's hash.

    `name` is the path it was named after. `own` is False for one that was there before: it is
    used, but never renamed or deleted.
    """

    document_id: str
    name: str
    own: bool = True


@dataclass(frozen=True, slots=True)
class Upload:
    """New content. `updates` says that the path held another before."""

    hash: str
    path: str
    updates: bool = False


@dataclass(frozen=True, slots=True)
class Rename:
    """Content the library has, of which no file has the document's name any more."""

    hash: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Removal:
    """A document whose content is gone from the folder.

    With `successor`, the hash of what its path holds now, it goes once that is in the library.
    """

    hash: str
    path: str
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in this order. `kept` are paths whose documents stay for want of leave."""

    renames: tuple[Rename, ...] = ()
    uploads: tuple[Upload, ...] = ()
    removals: tuple[Removal, ...] = ()
    kept: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.renames or self.uploads or self.removals)

    @property
    def deletions(self) -> tuple[Removal, ...]:
        """The removals of what was deleted in the folder."""
        return tuple(each for each in self.removals if each.successor is None)


def make_plan(folder: Mapping[str, str], known: Mapping[str, Known], *, delete: bool) -> Plan:
    """Plans from a folder (hash by path) and the documents it has in the library (by hash).

    Without `delete` a document goes only when its path holds other content, which then is in
    the library instead.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder):
        paths[folder[path]].append(path)
    held = {document.name for document in known.values()}
    uploads = [
        Upload(hash, named[0], named[0] in held)
        for hash, named in paths.items()
        if hash not in known
    ]
    renames: list[Rename] = []
    removals: list[Removal] = []
    kept: list[str] = []
    for hash, document in sorted(known.items(), key=lambda item: item[1].name):
        if not document.own:
            continue
        if hash in paths:
            if document.name not in paths[hash]:
                renames.append(Rename(hash, document.name, paths[hash][0]))
        elif document.name in folder:
            removals.append(Removal(hash, document.name, folder[document.name]))
        elif delete:
            removals.append(Removal(hash, document.name))
        else:
            kept.append(document.name)
    return Plan(tuple(renames), tuple(uploads), tuple(removals), tuple(kept))


def document_name(path: str) -> str:
    """What a file's document is called: its path below the folder, as text fit to be shown."""
    return unicodedata.normalize("NFC", clean_text(path))
