"""Remote names as safe file names."""

import re
from pathlib import Path, PurePath

from carrel.text import clean_text

LONGEST = 200
"""Longest name in bytes: systems allow 255, and suffixes need a few."""

_UNSAFE = re.compile(r'[<>:"|?*]')


def file_name(name: str, otherwise: str, longest: int = LONGEST) -> str:
    """Return the last part of a name as a safe file name on any system, or `otherwise` if nothing
    is left.

    The result cannot leave its folder, is not hidden, and has at most `longest` bytes.
    """
    last = clean_text(name).replace("\\", "/").rpartition("/")[2]
    path = PurePath(" ".join(_UNSAFE.sub(" ", last).split()).strip(" ."))
    ending = path.suffix if len(path.suffix.encode()) < longest // 2 else ""
    stem = path.name.removesuffix(ending).encode()[: longest - len(ending.encode())]
    return f"{stem.decode(errors='ignore').rstrip()}{ending}" or otherwise


def free(path: Path, content: bytes | None = None) -> Path:
    """Return the path, or a similar path that does not exist yet or holds this content."""
    candidate, number = path, 1
    while candidate.exists() and not (
        candidate.is_file() and content is not None and candidate.read_bytes() == content
    ):
        number += 1
        candidate = path.with_stem(f"{path.stem} {number}")
    return candidate
