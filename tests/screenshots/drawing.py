"""A terminal screen as an SVG that refers to nothing outside itself."""

import base64
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import App

from support.svg import self_contained

# Measures of Rich's drawing: a cell, and where its letters' background begins.
WIDE, HIGH, DOWN = 12.2, 24.4, 1.5

_LETTERS = 'class="screen-matrix"'


@dataclass(frozen=True)
class Pixels:
    """Half-blocks of one line that stand side by side: the colours above, and those below."""

    column: int
    row: int
    upper: bytes
    lower: bytes


def svg(app: App[Any], title: str) -> str:
    """What is on the screen.

    Half-blocks are drawn as one small picture a line: as letters they would leave stripes.
    """
    width, height = app.size
    console = Console(
        width=width, height=height, file=io.StringIO(), force_terminal=True,
        color_system="truecolor", record=True, legacy_windows=False, safe_box=False,
    )  # fmt: skip
    stack = app._background_screens
    drawn = app.screen._compositor.render_update(full=True, screen_stack=stack)
    found: list[Pixels] = []
    segments = list(_without_pixels(console.render(drawn or ""), found))
    console.print(_Drawn(segments), end="")
    text = self_contained(console.export_svg(title=title, unique_id="screen"))
    pictures = "".join(map(_image, _joined(found)))
    before, letters, after = text.partition(f"<g {_LETTERS}>")
    return f"{before}{pictures}{letters}{after}"


@dataclass(frozen=True)
class _Drawn:
    segments: list[Segment]

    def __rich_console__(self, *_: object) -> Iterator[Segment]:
        yield from self.segments


def _without_pixels(segments: Iterable[Segment], found: list[Pixels]) -> Iterator[Segment]:
    """The segments with spaces for half-blocks, which go to `found`."""
    column = row = 0
    for segment in segments:
        if segment.control:
            continue
        text, style = segment.text, segment.style or Style()
        if text and not text.strip("▀") and style.color and style.bgcolor:
            upper, lower = style.color.get_truecolor(), style.bgcolor.get_truecolor()
            found.append(Pixels(column, row, bytes(upper) * len(text), bytes(lower) * len(text)))
            segment = Segment(" " * len(text))
        yield segment
        row += text.count("\n")
        column = 0 if text.endswith("\n") else column + segment.cell_length


def _joined(found: Iterable[Pixels]) -> Iterator[list[Pixels]]:
    """Lines of half-blocks that stand below one another at the same place."""
    lines: list[Pixels] = []
    for one in found:
        last = lines[-1] if lines else None
        if last and last.row == one.row and last.column + len(last.upper) // 3 == one.column:
            lines[-1] = Pixels(
                last.column, last.row, last.upper + one.upper, last.lower + one.lower
            )
        else:
            lines.append(one)
    block: list[Pixels] = []
    for line in lines:
        if block and (
            line.row != block[-1].row + 1
            or (line.column, len(line.upper)) != (block[-1].column, len(block[-1].upper))
        ):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _image(block: list[Pixels]) -> str:
    columns, rows = len(block[0].upper) // 3, len(block)
    pixels = b"".join(line.upper + line.lower for line in block)
    buffer = io.BytesIO()
    Image.frombytes("RGB", (columns, 2 * rows), pixels).save(buffer, "PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<image x="{block[0].column * WIDE:g}" y="{block[0].row * HIGH + DOWN:g}" '
        f'width="{columns * WIDE:g}" height="{rows * HIGH:g}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )
