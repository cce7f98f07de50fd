"""The recording of the demo that ships: played in a real terminal, drawn as an SVG that moves."""

import base64
import io
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import pyte
from PIL import Image

from carrel import samples
from carrel.recording.asciicast import Recording, read_recording
from carrel.store.demo.script import load_demo
from support.terminal import Terminal, terminal

COLUMNS, ROWS = 120, 34
NEXT = "\x1b[19~"
"""What F8 sends."""
SLOW = 240
"""Seconds that a step may take."""

WIDE, HIGH, EDGE = 9.0, 19.0, 10
"""A cell and the margin, in pixels."""
SEAM = 0.5
"""Pixels by which a ground goes below its row, so that no line shows between two."""
GROUND, TEXT = "#121212", "#d0d0d0"
"""The terminal's own colours, where the app names none."""
SAMPLE = 0.1
"""Seconds between two frames of a step, at least."""
MOVING = 2.2
"""Seconds in which a step's frames pass, whatever the machine needed for them."""
READING = 0.055
"""Seconds that a step's last frame stays for each character of its caption."""
SHORTEST = 1.2


def shoot(papers: Path, out: Path) -> None:
    """Takes the recording."""
    cast = papers.parent / "demo.cast"
    command = [sys.executable, "-m", "carrel", "demo", "--record", str(cast)]
    with terminal(command, columns=COLUMNS, rows=ROWS, COLORTERM="truecolor") as app:
        app.wait_for("F8 next", SLOW)
        count = len(load_demo(samples.demo()).steps)
        for step in range(1, count + 1):
            app.press(NEXT)
            _ended(app, step, count)
            time.sleep(1)
        app.press("ctrl+q")
        assert app.wait_for_end(60) == 0
    (out / "demo.svg").write_text(moving(read_recording(cast)))


def _ended(app: Terminal, step: int, count: int) -> None:
    text = app.wait_for(lambda text: f" {step}/{count}" in text or "✕" in text, SLOW)
    assert "✕" not in text, text


@dataclass(frozen=True)
class Style:
    """How a cell is drawn."""

    ink: str
    ground: str
    bold: bool
    italic: bool
    underlined: bool


Cell = tuple[str, Style]
Row = tuple[Cell, ...]
Frame = tuple[Row, ...]


def moving(recording: Recording) -> str:
    """A recording as an SVG that plays over and over and refers to nothing elsewhere.

    Its frames stand beside each other, and the window passes over them. A row that several of
    them show is drawn once.
    """
    frames = list(_timed(recording))
    ground = Counter(style.ground for frame, _ in frames for row in frame for _, style in row)
    usual = ground.most_common(1)[0][0]
    total = sum(seconds for _, seconds in frames)
    rows: dict[Row, str] = {}
    strip, stops, at = [], [], 0.0
    width, height = recording.width * WIDE, recording.height * HIGH
    for number, (frame, seconds) in enumerate(frames):
        uses = [
            f'<use href="#{rows.setdefault(row, f"r{len(rows)}")}" y="{y * HIGH:g}"/>'
            for y, row in enumerate(frame)
            if not _is_blank(row, usual)
        ]
        strip.append(f'<g transform="translate({number * width:g})">{"".join(uses)}</g>')
        stops.append(f"{at / total * 100:.3f}%{{transform:translateX({-number * width:g}px)}}")
        at += seconds
    stops.append(f"100%{{transform:translateX({-(len(frames) - 1) * width:g}px)}}")
    drawn = "".join(f'<g id="{name}">{_row(row, usual)}</g>' for row, name in rows.items())
    title = escape(f"Recording: {recording.title}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" '
        f'viewBox="0 0 {width + 2 * EDGE:g} {height + 2 * EDGE:g}">'
        "<style>"
        "text{font:15px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
        ".b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}"
        "image{image-rendering:pixelated}"
        f"@keyframes play{{{''.join(stops)}}}"
        f"#film{{animation:play {total:.2f}s step-end infinite}}"
        "@media(prefers-reduced-motion:reduce){#film{animation:none}}"
        f"</style><defs>{drawn}</defs>"
        f'<rect width="100%" height="100%" rx="9" fill="{usual}"/>'
        f'<svg x="{EDGE}" y="{EDGE}" width="{width:g}" height="{height:g}">'
        f'<g id="film">{"".join(strip)}</g></svg></svg>\n'
    )


def _timed(recording: Recording) -> Iterator[tuple[Frame, float]]:
    """The frames with the seconds that each stays."""
    for caption, frames in _steps(recording):
        stay = max(SHORTEST, READING * caption)
        pace = min(SAMPLE, MOVING / max(len(frames) - 1, 1))
        # A step with more frames than pass in its time shows some of them.
        every = max(1, round((len(frames) - 1) * 0.06 / MOVING))
        for frame in frames[:-1:every]:
            yield frame, pace * every
        yield frames[-1], stay


def _steps(recording: Recording) -> Iterator[tuple[int, list[Frame]]]:
    """Each step's length of caption, and its different frames."""
    screen = pyte.Screen(recording.width, recording.height)
    stream = pyte.Stream(screen)
    frames: list[Frame] = []
    caption, drawn, begun = len(recording.title), 0.0, False
    for event in recording.events:
        if event.kind == "m":
            frames.append(_frame(screen))
            if begun:
                yield caption, frames
            caption, frames, begun = len(event.data), [], True
        elif event.kind == "o":
            if begun and event.at - drawn > SAMPLE:
                drawn = event.at
                frame = _frame(screen)
                if not frames or frame != frames[-1]:
                    frames.append(frame)
            stream.feed(event.data)
    yield caption, [*frames, _frame(screen)]


def _frame(screen: pyte.Screen) -> Frame:
    return tuple(
        tuple(_cell(screen.buffer[y][x]) for x in range(screen.columns))
        for y in range(screen.lines)
    )


def _cell(char: pyte.screens.Char) -> Cell:
    ink, ground = _colour(char.fg, TEXT), _colour(char.bg, GROUND)
    if char.reverse:
        ink, ground = ground, ink
    return char.data, Style(ink, ground, char.bold, char.italics, char.underscore)


def _colour(name: str, usual: str) -> str:
    return f"#{name}" if re.fullmatch("[0-9a-f]{6}", name) else usual


def _is_blank(row: Row, ground: str) -> bool:
    return all(char in " " and style.ground == ground for char, style in row)


def _row(row: Row, ground: str) -> str:
    """Grounds first, then pixels, then letters."""
    below: list[str] = []
    above: list[str] = []
    x = 0
    for (is_pixels, style), group in groupby(row, key=_kind):
        cells = list(group)
        text = "".join(char for char, _ in cells)
        if is_pixels:
            below.append(_image(x, [style for _, style in cells]))
        elif style is not None:
            if style.ground != ground:
                below.append(
                    f'<rect x="{x * WIDE:g}" width="{len(cells) * WIDE:g}" '
                    f'height="{HIGH + SEAM:g}" fill="{style.ground}"/>'
                )
            above.extend(_letters(x, text, style))
        x += len(cells)
    return "".join(below + above)


def _kind(cell: Cell) -> tuple[bool, Style | None]:
    return (True, None) if cell[0] == "▀" else (False, cell[1])


def _letters(x: int, text: str, style: Style) -> Iterator[str]:
    words = text.strip()
    if words:
        x += len(text) - len(text.lstrip())
        marks = zip("biu", (style.bold, style.italic, style.underlined), strict=True)
        names = " ".join(name for name, on in marks if on)
        kind = f' class="{names}"' if names else ""
        # In a font with narrower letters a line would become dashes.
        stretched = ' lengthAdjust="spacingAndGlyphs"' if "──" in words else ""
        yield (
            f'<text x="{x * WIDE:g}" y="{HIGH * 0.75:g}" textLength="{len(words) * WIDE:g}"'
            f'{stretched} fill="{style.ink}"{kind}>{escape(words, quote=False)}</text>'
        )


def _image(x: int, styles: Sequence[Style]) -> str:
    """Half-blocks as a small picture: as letters they would leave stripes."""
    upper, lower = [style.ink for style in styles], [style.ground for style in styles]
    pixels = bytes.fromhex("".join(colour[1:] for colour in upper + lower))
    buffer = io.BytesIO()
    Image.frombytes("RGB", (len(styles), 2), pixels).save(buffer, "PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<image x="{x * WIDE:g}" width="{len(styles) * WIDE:g}" height="{HIGH + SEAM:g}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{data}"/>'
    )
