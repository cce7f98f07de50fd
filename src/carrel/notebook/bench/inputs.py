"""The documents that calls accept: paths, patterns, addresses, bytes, open files, pictures."""

import glob
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeAlias, TypeVar

from PIL import Image

from carrel.notebook.cells.errors import BenchError
from carrel.notebook.cells.wait import can_continue
from carrel.store.core.formatting import count
from carrel.store.store import Store
from carrel.wire.documents import Document
from carrel.wire.files import File

T = TypeVar("T")
R = TypeVar("R")

OneInput: TypeAlias = str | Path | bytes | IO[bytes] | Image.Image | File
"""A path, a pattern such as `*.pdf`, an `https://` address, bytes, a file opened with "rb", a
picture of Pillow, or a file of the service or its id."""

Inputs: TypeAlias = OneInput | Sequence[OneInput]
"""One input, or a list of inputs."""

Attached: TypeAlias = OneInput | Document | Sequence[OneInput | Document]
"""An attachment of a question, or a list of them."""


@dataclass(frozen=True)
class Input:
    """One document. `title` is None to take the name from the path or the address."""

    content: str | Path | bytes | File
    title: str | None = None

    @property
    def name(self) -> str:
        """The document's name in messages."""
        match self.content:
            case bytes():
                return self.title or "document"
            case File():
                return self.content.filename
        return self.title or str(self.content)


@dataclass(frozen=True)
class Outcomes(Generic[T]):
    """The results of a call with documents, by name in order, or their failures."""

    items: Sequence[tuple[str, T | BenchError]]

    def then(self, store: Store, work: Callable[[T], R]) -> "Outcomes[R]":
        """Apply the next step to each result; a failure does not stop the others.

        Raises:
            BenchError: the service was lost, or the call was stopped; `partial` has the results so
            far.
        """
        items: list[tuple[str, R | BenchError]] = []
        for name, one in self.items:
            try:
                items.append((name, one if isinstance(one, BenchError) else work(one)))
            except BenchError as error:
                if not can_continue(store):
                    error.partial = Outcomes(items).results
                    raise
                items.append((name, error))
        return Outcomes(items)

    @property
    def results(self) -> list[T]:
        """The successful results."""
        return [one for _, one in self.items if not isinstance(one, BenchError)]

    def give(self, *, several: bool) -> Any:
        """Return the only result, or a list of the successful ones; warn of failures.

        Raises:
            BenchError: everything failed.
        """
        failed = [(name, one) for name, one in self.items if isinstance(one, BenchError)]
        if failed and len(self.items) == 1:
            raise failed[0][1]
        if failed:
            title = f"{count(len(failed))} of {count(len(self.items))} documents failed"
            reasons = "\n".join(f"{name}: {error}" for name, error in failed)
            if len(failed) == len(self.items):
                raise BenchError(title, reasons)
            warnings.warn(f"{title}:\n{reasons}", stacklevel=5)
        return self.results if several else self.results[0]


def is_several(given: object) -> bool:
    """Return whether a call gets a list or a pattern, and so returns a list."""
    return isinstance(given, list | tuple) or _is_pattern(given)


def as_outcomes(given: Sequence[Input]) -> Outcomes[Input]:
    """Return the documents of a call before its first step."""
    return Outcomes([(one.name, one) for one in given])


def inputs(call: str, given: Inputs, title: str | None = None) -> list[Input]:
    """Return the documents given to a call; patterns are replaced by the matching files.

    Raises:
        BenchError: the value is of a wrong kind, or no file matches.
        TypeError: one title is given for several documents.
    """
    if not is_several(given):
        return [_input(call, given, title)]
    if title is not None:
        raise TypeError(f"{call} takes a title with one document.")
    listed = given if isinstance(given, list | tuple) else [given]
    found: list[Input] = []
    for one in listed:
        found += _find_matches(str(one)) if _is_pattern(one) else [_input(call, one, None)]
    return found


def _is_pattern(given: object) -> bool:
    if not isinstance(given, str | Path) or not glob.has_magic(str(given)):
        return False
    return not str(given).startswith(("http://", "https://")) and not Path(given).exists()


def _find_matches(pattern: str) -> list[Input]:
    path = Path(pattern).expanduser()
    relative = path.relative_to(path.anchor)
    paths = sorted(one for one in Path(path.anchor).glob(str(relative)) if one.is_file())
    if not paths:
        raise BenchError(f"No file matches “{pattern}”", f"The folder is {Path.cwd()}.")
    return [Input(path) for path in paths]


def _input(call: str, given: object, title: str | None) -> Input:
    match given:
        case str() | Path() | File():
            return Input(given, title)
        case bytes() | bytearray() | memoryview():
            return Input(bytes(given), title)
        case Image.Image():
            return Input(_as_png(given), title or "picture.png")
        case io.TextIOBase():
            raise BenchError(f"{call} cannot take a file of text", "", 'Open it with "rb".')
        case io.IOBase():
            name = getattr(given, "name", None)
            return Input(
                given.read(), title or (Path(name).name if isinstance(name, str) else None)
            )
    raise BenchError(
        f"{call} cannot take a value of type {type(given).__name__}",
        "It takes a path, a pattern, an address, bytes, an open file, a picture of Pillow, "
        "a file of the service, or a list of them.",
    )


def _as_png(picture: Image.Image) -> bytes:
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()
