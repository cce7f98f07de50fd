"""A real terminal for a program: a pty on one side, a screen that can be read on the other."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyte

from support.rounds import rounds

PATIENCE = rounds(30, 120)
"""Seconds until the screen shows something, at most."""
# What a terminal emulator of this age knows and pyte does not: private modes, DCS, APC, OSC.
_UNKNOWN = re.compile(
    rb"\x1b\[[<>=?][0-9;]*[a-zA-Z]|\x1b\[[0-9;]*\$p|\x1b[P_^X].*?\x1b\\|\x1b\].*?(?:\x07|\x1b\\)",
    re.S,
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[<>=?]?[0-9;$]*|[P_^X\]][^\x07]*)?$", re.S)

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "space": " ",
    "backspace": "\x7f",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "home": "\x1b[H",
    "end": "\x1b[F",
}


def _bytes(key: str) -> bytes:
    if key.startswith("ctrl+"):
        return bytes([ord(key[-1]) & 0x1F])
    if key.startswith("alt+"):
        return b"\x1b" + _bytes(key[4:])
    return KEYS.get(key, key).encode()


class Terminal:
    """A program in a terminal of `columns` × `rows`."""

    def __init__(self, master: int, process: subprocess.Popen[bytes], columns: int, rows: int):
        self.process = process
        self.raw = bytearray()
        self._master = master
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._pending = b""

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        self._read(0)
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def background(self) -> str:
        """The colour in the top left corner, as six hexadecimal digits."""
        self._read(0)
        return str(self._screen.buffer[0][0].bg)

    def press(self, *keys: str) -> None:
        """Types keys by name (`enter`, `ctrl+p`, `a`), one after another."""
        for key in keys:
            os.write(self._master, _bytes(key))
            # Two keys in one read could be taken for one escape sequence.
            self._read(0.05)

    def type(self, text: str) -> None:
        """Types text as a person does, character by character."""
        self.press(*text)

    def rush(self, *keys: str) -> None:
        """Types keys by name faster than anything can be drawn: all in one write."""
        os.write(self._master, b"".join(_bytes(key) for key in keys))

    def hold(self, key: str, times: int, every: float) -> None:
        """Holds a key down: it comes every `every` seconds, however long drawing takes."""
        drawn, due = bytearray(), time.monotonic()
        for _ in range(times):
            os.write(self._master, _bytes(key))
            due += every
            while (left := due - time.monotonic()) > 0:
                if select.select([self._master], [], [], left)[0]:
                    drawn += os.read(self._master, 65536)
        self._draw(bytes(drawn))

    def paste(self, text: str) -> None:
        """Pastes text, as a terminal does with what is dropped on it."""
        os.write(self._master, b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def wait_for(
        self, wanted: str | Callable[[str], bool], timeout: float = PATIENCE, gone: bool = False
    ) -> str:
        """The screen once it shows `wanted` (a pattern or a condition), or no longer does."""
        shows = wanted if callable(wanted) else lambda text: bool(re.search(wanted, text))
        deadline = time.monotonic() + timeout
        while True:
            text = self.text
            if shows(text) is not gone:
                return text
            if time.monotonic() > deadline or self.process.poll() is not None:
                ended = self.process.returncode
                state = "still runs" if ended is None else f"ended with {ended}"
                verb = "never left" if gone else "never showed"
                raise AssertionError(f"the screen {verb} {wanted!r}; the program {state}:\n{text}")
            self._read(0.05)

    def wait_for_end(self, timeout: float = 15) -> int:
        """The program's exit code."""
        deadline = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"the program did not end:\n{self.text}")
            self._read(0.05)
        self._read(0)
        return self.process.returncode

    def _read(self, wait: float) -> None:
        while select.select([self._master], [], [], wait)[0]:
            wait = 0
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the other side is closed
                return
            if not data:
                return
            self._draw(data)

    def _draw(self, data: bytes) -> None:
        self.raw += data
        data = _UNKNOWN.sub(b"", self._pending + data)
        rest = _UNFINISHED.search(data)
        self._pending = data[rest.start() :] if rest else b""
        self._stream.feed(data[: rest.start()] if rest else data)


def _environment() -> dict[str, str]:
    # These would be believed instead of the terminal's own size.
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


@contextmanager
def terminal(
    command: Sequence[str], *, columns: int = 120, rows: int = 36, **environment: str
) -> Iterator[Terminal]:
    """Runs a command in a terminal; what still runs at the end is ended."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**_environment(), "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment},
    )
    os.close(slave)
    try:
        yield Terminal(master, process, columns, rows)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        os.close(master)
