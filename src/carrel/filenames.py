"""Names that others gave, as names of files on this machine."""

import re
from pathlib import Path, PurePath

from carrel.text import clean_text

LONGEST = 200
"""Bytes of a name: systems take 255, and a few are needed beside it."""

_UNSAFE = re.compile(r'[<>:"|?*]')


def file_name(name: str, otherwise: str, longest: int = LONGEST) -> str:
    """The last part of a name, fit for a file on any system; `otherwise` where nothing is left.

    It leads out of no folder, does not hide in it, and has at most `longest` bytes.
    """
    last = clean_text(name).replace("\\", "/").rpartition("/")[2]
    path = PurePath(" ".join(_UNSAFE.sub(" ", last).split()).strip(" ."))
    ending = path.suffix if len(path.suffix.encode()) < longest // 2 else ""
    stem = path.name.removesuffix(ending).encode()[: longest - len(ending.encode())]
    return f"{stem.decode(errors='ignore').rstrip()}{ending}" or otherwise


def free(path: Path) -> Path:
    """The path, or one like it that is not there yet."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_stem(f"{path.stem} {number}")
    return candidate
