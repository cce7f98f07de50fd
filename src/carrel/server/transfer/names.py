"""File names from requests: text to show, never a path to open."""

import unicodedata
from pathlib import PurePosixPath

from carrel.text import clean_name

_MAX_BYTES = 255


def safe_filename(name: str) -> str:
    """Return the last part of a path-like name without unseen characters, at most 255 bytes."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    normal = unicodedata.normalize("NFC", last)
    shown = clean_name("".join(c for c in normal if unicodedata.category(c) != "Cc")).strip()
    if shown in ("", ".", ".."):
        return "file"
    suffix = PurePosixPath(shown).suffix
    if len(suffix.encode()) > 20:
        suffix = ""
    stem = shown.removesuffix(suffix).encode()[: _MAX_BYTES - len(suffix.encode())]
    return stem.decode("utf-8", "ignore") + suffix
