"""The last OCR options of each kind of document, on this machine."""

import json
import mimetypes
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

from carrel.store.documents.reader import USUAL, OCROptions, Scores, Tables
from carrel.system.atomic import write_private

FORMAT = 1
KINDS = 100
"""Number of remembered kinds, the latest ones."""


class RememberedOptions:
    """The last options by kind. Used on the owner loop, except for `save`."""

    def __init__(self, state: Path) -> None:
        self._path = state / "ocr-options.json"
        self._kinds: Mapping[str, OCROptions] = _load(self._path)

    def of(self, name: str) -> OCROptions:
        """Return the options for a document of this name."""
        return self._kinds.get(kind(name), USUAL)

    def note(self, name: str, options: OCROptions) -> None:
        """Remember the options for documents of this name's kind."""
        # Page ranges and a schema apply to one document only.
        chosen = replace(options, pages="", schema="")
        others = {key: value for key, value in self._kinds.items() if key != kind(name)}
        self._kinds = dict([*others.items(), (kind(name), chosen)][-KINDS:])

    def save(self) -> None:
        """Write the options to disk. From any thread.

        Raises:
            OSError: the file cannot be written.
        """
        kinds = {key: asdict(options) for key, options in self._kinds.items()}
        write_private(self._path, json.dumps({"format": FORMAT, "kinds": kinds}))


def kind(name: str) -> str:
    """Return `picture`, or the extension of the name."""
    if (mimetypes.guess_type(name)[0] or "").startswith("image/"):
        return "picture"
    return Path(name).suffix.casefold().removeprefix(".")


def _load(path: Path) -> Mapping[str, OCROptions]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            return {}
        return {str(kind): _options(**fields) for kind, fields in data["kinds"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _options(
    *, tables: Tables, scores: Scores, headers: bool, pictures: bool, model: str = "", **_: str
) -> OCROptions:
    if tables not in get_args(Tables) or scores not in get_args(Scores):
        raise ValueError(tables, scores)
    return OCROptions(
        tables=tables,
        scores=scores,
        headers=bool(headers),
        pictures=bool(pictures),
        model=str(model),
    )
