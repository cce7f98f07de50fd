"""`carrel replay`: plays a recording in the terminal, without any server, or makes a page of it."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from carrel.cli.errors import Code, CommandError
from carrel.cli.options import argument, option
from carrel.cli.output import note
from carrel.recording.asciicast import read_recording
from carrel.recording.playback import CLEAR, Playback

FRAME = 0.25
"""Longest time between two redraws of the bar, in seconds."""
KEYS = "space pause · ←→ steps · +- speed · q quit"


def replay(
    file: Annotated[Path, argument("FILE", "A recording, as --record makes it.")],
    html: Annotated[
        Path | None,
        option(
            "PAGE",
            "Write one HTML page that plays the recording by itself, instead of playing it.",
            "--html",
        ),
    ] = None,
) -> None:
    """Play a recording of the app at its own pace, without any server.

    space pauses, the arrows go from step to step, + and - change the speed, q quits. The file is
    asciicast v2: asciinema and its tools play and convert it, too.
    """
    recording = read_recording(file)
    if html is not None:
        from carrel.recording.page import page

        with html.open("x", encoding="utf-8") as out:
            out.write(page(recording))
        note(f"Wrote {html}.")
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("A replay needs a terminal. --html makes a page of it.", Code.USAGE)
    columns, rows = shutil.get_terminal_size()
    if columns < recording.width or rows < recording.height:
        raise CommandError(
            f"The recording has {recording.width} × {recording.height} characters, this window "
            f"{columns} × {rows}: enlarge it, or make its letters smaller.",
            Code.USAGE,
        )
    with _whole_screen() as screen:
        screen.play(Playback(recording))


class _Screen:
    """The terminal during a replay, with a status bar."""

    def __init__(self, input: int) -> None:
        self._input = input
        self._resized = False
        self._bar = 0

    def resize(self, *_: object) -> None:
        """Adopt a new size of the window, which may have lost its content."""
        self._resized = True

    def play(self, playback: Playback) -> None:
        """Play until the user quits."""
        before = time.monotonic()
        self._draw(playback, CLEAR + playback.seek(0))
        while True:
            rest = playback.rest
            keys = self._keys(FRAME if rest is None else min(rest, FRAME))
            now = time.monotonic()
            text = playback.advance(now - before)
            before = now
            for key in keys:
                match key:
                    case "q" | "Q" | "\x1b" | "\x03" | "\x11":
                        return
                    case " ":
                        # After the end, playing restarts.
                        if playback.ended:
                            text, playback.paused = playback.seek(0), False
                        else:
                            playback.paused = not playback.paused
                    case "\x1b[C" | "n":
                        text += playback.jump(1)
                    case "\x1b[D" | "p":
                        text = playback.jump(-1)
                    case "+" | "=" | "-":
                        playback.faster(-1 if key == "-" else 1)
            if self._resized:
                self._resized = False
                text = playback.redraw()
            self._draw(playback, text)

    def _draw(self, playback: Playback, text: str) -> None:
        columns, rows = shutil.get_terminal_size()
        spare = rows > playback.recording.height
        bar = _bar(playback, columns if spare or playback.paused or playback.ended else 0)
        if len(bar) < self._bar:
            # The bar covered a line of the recording.
            text = playback.redraw()
        self._bar = len(bar)
        # Restore the cursor and its colours from the recording.
        shown = f"\x1b7\x1b[{rows};{columns - len(bar) + 1}H\x1b[0;7m{bar}\x1b8"
        sys.stdout.write(f"\x1b[?2026h{text}{shown}\x1b[?2026l")
        sys.stdout.flush()

    def _keys(self, seconds: float) -> list[str]:
        import select

        with suppress(InterruptedError):
            if select.select([self._input], [], [], seconds)[0]:
                return _split(os.read(self._input, 1024).decode(errors="replace"))
        return []


def _bar(playback: Playback, width: int) -> str:
    """Return the bar padded to `width`, or in its shortest form for 0."""
    recording = playback.recording
    state = "■ end" if playback.ended else "‖ paused" if playback.paused else "▶"
    steps = f" · step {playback.step}/{len(recording.marks)}" if recording.marks else ""
    words = f" REPLAY {state} {_clock(playback.at)}/{_clock(recording.seconds)}{steps}"
    words += f" · {playback.speed:g}× "
    return words if not width else f"{words}· {KEYS} ".ljust(width)[:width]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def _split(typed: str) -> list[str]:
    """Split typed characters into keys: an arrow has three characters."""
    keys = []
    while typed:
        length = 3 if typed.startswith(("\x1b[", "\x1bO")) else 1
        keys.append(typed[:length].replace("\x1bO", "\x1b["))
        typed = typed[length:]
    return keys


@contextmanager
def _whole_screen() -> Iterator[_Screen]:
    """Yield the terminal in full-screen mode, and restore it in any case."""
    try:
        import termios
        import tty
    except ImportError:
        raise CommandError(
            "This system's terminal cannot be replayed in. --html makes a page of the recording.",
            Code.USAGE,
        ) from None
    input = sys.stdin.fileno()
    before = termios.tcgetattr(input)
    screen = _Screen(input)
    ends = (signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.signal(number, _interrupt) for number in ends}
    handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, screen.resize)
    try:
        tty.setraw(input)
        # Alternate screen, no line wrap, hidden cursor.
        sys.stdout.write("\x1b[?1049h\x1b[?7l\x1b[?25l")
        yield screen
    finally:
        sys.stdout.write("\x1b[0m\x1b[r\x1b(B\x1b[?7h\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(input, termios.TCSADRAIN, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
