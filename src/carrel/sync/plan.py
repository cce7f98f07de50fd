"""Planning of the changes that sync a library with a folder. Pure functions."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from carrel.text import clean_text


@dataclass(frozen=True, slots=True)
class Known:
    """A document that the last sync left in the library, by its content's hash.

    `name` is the path that names it; `named` is False until the library uses that name. `own` is
    False for a document that existed before: it is used, but never renamed or deleted.
    """

    document_id: str
    name: str
    own: bool = True
    named: bool = True


@dataclass(frozen=True, slots=True)
class Upload:
    """New content; `updates` if the path had other content before."""

    hash: str
    path: str
    updates: bool = False


@dataclass(frozen=True, slots=True)
class Rename:
    """Content in the library whose document name matches no file any more."""

    hash: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Removal:
    """A document whose content left the folder.

    With `successor`, the hash of the path's new content, it is deleted only after that is in the
    library. `reason` is the reason for an excluded rather than deleted file.
    """

    hash: str
    path: str
    successor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes in order of execution.

    `kept` are paths whose documents stay because deletion is off, `left_out` those whose documents
    stay for the given reason, and `held` deletions that wait for confirmation. `brought` counts the
    library's documents from the folder.
    """

    renames: tuple[Rename, ...] = ()
    uploads: tuple[Upload, ...] = ()
    removals: tuple[Removal, ...] = ()
    kept: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    held: tuple[Removal, ...] = ()
    brought: int = 0
    max_delete: int | None = None

    def __bool__(self) -> bool:
        return bool(self.renames or self.uploads or self.removals)

    @property
    def deletions(self) -> tuple[Removal, ...]:
        """The removals without a successor."""
        return tuple(removal for removal in self.removals if removal.successor is None)

    @property
    def limit(self) -> int:
        """The largest number of deletions without a confirmation: half of the documents brought."""
        return self.brought // 2 if self.max_delete is None else self.max_delete

    @property
    def excessive(self) -> bool:
        """Whether the deletions exceed the limit."""
        return len(self.deletions) > self.limit

    def hold(self, hashes: Collection[str]) -> Plan:
        """Return the plan with the deletions of these contents held."""
        held = tuple(deletion for deletion in self.deletions if deletion.hash in hashes)
        rest = tuple(removal for removal in self.removals if removal not in held)
        return replace(self, removals=rest, held=held)


def make_plan(
    folder: Mapping[str, str],
    known: Mapping[str, Known],
    *,
    delete: bool,
    delete_excluded: bool = False,
    left_out: Mapping[str, str] = MappingProxyType({}),
    unknown: Mapping[str, str] = MappingProxyType({}),
    max_delete: int | None = None,
) -> Plan:
    """Plan from a folder (hash by path) and its documents in the library (by hash).

    Without `delete`, a document is deleted only when new content of its path replaced it.
    `left_out` and `unknown` map paths that are missing from `folder`, though not deleted, to
    reasons: documents of the former are deleted only with `delete_excluded`, those of the latter
    never. `max_delete` limits deletions; None means half of the documents from the folder.
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
    stays: list[tuple[str, str]] = []
    for hash, document in sorted(known.items(), key=lambda item: item[1].name):
        if not document.own:
            continue
        if hash in paths:
            if document.name not in paths[hash]:
                renames.append(Rename(hash, document.name, paths[hash][0]))
            elif not document.named:
                file_name = document.name.rpartition("/")[2]
                renames.append(Rename(hash, file_name, document.name))
        elif document.name in folder:
            removals.append(Removal(hash, document.name, folder[document.name]))
        elif document.name in unknown:
            stays.append((document.name, unknown[document.name]))
        elif document.name in left_out and not delete_excluded:
            stays.append((document.name, left_out[document.name]))
        elif delete or document.name in left_out:
            removals.append(Removal(hash, document.name, reason=left_out.get(document.name)))
        else:
            kept.append(document.name)
    return Plan(
        tuple(renames),
        tuple(uploads),
        tuple(removals),
        tuple(kept),
        tuple(stays),
        brought=sum(document.own for document in known.values()),
        max_delete=max_delete,
    )


def document_name(path: str) -> str:
    """Return a document's name: the file's path below the folder, cleaned for display."""
    return unicodedata.normalize("NFC", clean_text(path))
