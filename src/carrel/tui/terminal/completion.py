"""Completion of a typed path."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MAX_SHOWN = 200


@dataclass(frozen=True)
class PathCompletion:
    """The completions of a typed path.

    `text` is the unambiguous completion; `matches` are whole paths in displayed order, folders
    first with a slash at the end.
    """

    text: str
    matches: tuple[str, ...]


def complete(typed: str, offers: Callable[[str], bool] = lambda name: True) -> PathCompletion:
    """Complete a path from its folder. Hidden names match only a typed dot.

    `offers` tells whether a file name may match.
    """
    folder, slash, start = typed.rpartition("/")
    try:
        place = Path(folder + slash or ".").expanduser()
        with os.scandir(place) as entries:
            names = sorted(
                (not entry.is_dir(), entry.name)
                for entry in entries
                if entry.name.lower().startswith(start.lower())
                and (start.startswith(".") or not entry.name.startswith("."))
                and entry.name.isprintable()
                and (entry.is_dir() or offers(entry.name))
            )
    except (OSError, RuntimeError, ValueError):
        return PathCompletion(typed, ())
    matches = [folder + slash + name + ("" if is_file else "/") for is_file, name in names]
    return PathCompletion(_certain(typed, matches), tuple(matches[:MAX_SHOWN]))


def _certain(typed: str, matches: list[str]) -> str:
    common = _common_start(matches)
    if len(common) >= len(typed):
        return common
    # The matches differ from the input only in case.
    return matches[0] if len(matches) == 1 else typed


def _common_start(texts: list[str]) -> str:
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    for index, character in enumerate(first):
        if not last.startswith(character, index):
            return first[:index]
    return first
