"""Output of commands: data on stdout, messages and progress on stderr."""

import json as jsonlib
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from carrel.store.core.formatting import counted as counted
from carrel.store.core.formatting import size as size
from carrel.text import clean_text, width_of

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")

_NARROWEST = 10
"""Minimum width of a column on a narrow terminal, in cells."""


class HasId(Protocol):
    @property
    def id(self) -> str: ...


def data(text: str) -> None:
    """Print a line of data."""
    print(text)


def note(text: str) -> None:
    """Print a message on stderr."""
    print(text, file=sys.stderr, flush=True)


def as_json(value: "BaseModel | Sequence[BaseModel] | Any") -> None:
    """Print data as indented JSON."""
    print(jsonlib.dumps(_plain(value), ensure_ascii=False, indent=2))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns, cut to the width of a terminal but whole in a pipe."""
    cells = [list(headings), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(width_of(row[at]) for row in cells) for at in range(len(headings))]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if room is not None:
        _shrink(widths, room)
    for row in cells:
        line = "  ".join(_fit(cell, width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip() if room is None else _truncate(line.rstrip(), room))


def show_list(
    items: Iterable[T],
    json: bool,
    plain: Callable[[T], object] | None = None,
    **columns: Callable[[T], object],
) -> None:
    """Print items as JSON, each as `plain` returns it, or as a table with the headings and cells of
    these columns."""
    items = [*items]
    if json:
        as_json([plain(item) for item in items] if plain else items)
    else:
        table([*columns], [[cell(item) for cell in columns.values()] for item in items])


def show_record(value: Any, pairs: Iterable[tuple[str, object]], json: bool) -> None:
    """Print a value as JSON, or as fields one per line."""
    if json:
        as_json(value)
    else:
        fields(pairs)


def report_new(value: HasId, message: str, json: bool) -> None:
    """Print a new item as JSON, or its id with a message."""
    if json:
        as_json(value)
    else:
        note(message)
        data(value.id)


def report_change(value: Any, message: str, json: bool) -> None:
    """Print a message on stderr, and with `json` the changed item on stdout."""
    note(message)
    if json:
        as_json(value)


def report_deleted(id: str, message: str, json: bool) -> None:
    """Print a message on stderr, and with `json` the deleted id on stdout."""
    report_change({"id": id, "deleted": True}, message, json)


def fields(pairs: Iterable[tuple[str, object]]) -> None:
    """Print fields one per line, without empty ones."""
    shown = [(name, value) for name, value in pairs if value not in (None, "", [], {})]
    widest = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        print(f"{name:<{widest}}  {_words(value)}")


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show transfer progress on a terminal's stderr, and clear it afterwards."""
    with show_changing() as show:

        def report(done: int, total: int | None) -> None:
            show(f"{label}  {f'{100 * done // total} %' if total else size(done)}")

        yield report


@contextmanager
def show_changing() -> Iterator[Callable[[str], None]]:
    """Show an updating line on a terminal's stderr, and clear it afterwards."""
    shown = sys.stderr.isatty()

    def show(text: str) -> None:
        if shown:
            line = _truncate(one_line(text), shutil.get_terminal_size().columns - 1)
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def show_waiting(text: str) -> Iterator[None]:
    """Show a line on a terminal's stderr while waiting, and clear it afterwards."""
    with show_changing() as show:
        show(text)
        yield


def wrap(place: str, passage: str) -> str:
    """Return a passage below its place, in lines of the terminal's width."""
    width = max(40, shutil.get_terminal_size().columns - 4)
    lines = textwrap.wrap(passage, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join([place, *(f"    {line}" for line in lines)])


def local_time(moment: datetime | int | None) -> str:
    """Return a moment in local time: `2026-11-20 06:40`."""
    if moment is None:
        return "–"
    if isinstance(moment, int):
        moment = datetime.fromtimestamp(moment, UTC)
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def one_line(value: object) -> str:
    """Return a value as one line without control characters."""
    text = "–" if value is None else str(value)
    return " ".join(clean_text(text).split())


def _words(value: object) -> str:
    if isinstance(value, (list, dict)):
        return jsonlib.dumps(value, ensure_ascii=False)
    return clean_text(str(value))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def _shrink(widths: list[int], room: int) -> None:
    """Shrink the widest columns to fit. The first, an id or a name, stays whole."""
    while sum(widths) + 2 * (len(widths) - 1) > room and max(widths[1:], default=0) > _NARROWEST:
        widest = max(range(1, len(widths)), key=widths.__getitem__)
        widths[widest] -= 1


def _fit(cell: str, width: int) -> str:
    cut = _truncate(cell, width)
    return cut + " " * (width - width_of(cut))


def _truncate(line: str, room: int) -> str:
    if width_of(line) <= room:
        return line
    kept, left = [], room - 1
    for character in line:
        left -= width_of(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"
