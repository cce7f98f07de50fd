"""Previews of the selected file: the beginning of its text, or its first page as a picture."""

from __future__ import annotations

import asyncio
import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from carrel.pages.errors import NoPicture
from carrel.store.cache.copies import Copy, DocumentSource
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import Problem
from carrel.store.shared import Area, Shared
from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.files import File

PAUSE = 0.1
"""Debounce of a selection in seconds before its preview."""
TEXT = 16_000
"""Size of a text preview in bytes."""
MOST, MOST_HOSTED = 64_000_000, 4_000_000
"""Size limit in bytes of a picture preview: on this machine, hosted."""

_BYTE_ORDERS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def preview_lines(state: PreviewState) -> tuple[tuple[str, str], ...]:
    """Return a text's lines, each with its number if every line is a record."""
    lines = state.text.splitlines()
    numbered = state.kind == "lines"
    rows = [(str(at) if numbered else "", line) for at, line in enumerate(lines, 1)]
    return (*rows, ("", "…")) if state.more else tuple(rows)


PreviewKind = Literal["text", "lines", "picture", "none"]


@dataclass(frozen=True, slots=True)
class PreviewState:
    """The preview of a file. `lines`: each line of `text` is a record. `more`: the text is
    truncated.

    The picture is drawn from `copy`; `note` is the reason for a missing preview.
    """

    file_id: str | None = None
    kind: PreviewKind = "none"
    text: str = ""
    more: bool = False
    copy: Copy | None = None
    page_count: int | None = None
    note: str = ""
    loading: bool = False
    error: Problem | None = None

    @property
    def path(self) -> Path | None:
        """The path of the copy, or None."""
        return None if self.copy is None else self.copy.path


class PreviewService(Area, Service[PreviewState]):
    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, PreviewState())
        self._file: File | None = None

    def recover(self) -> None:
        """Retry a preview that failed while the service was lost."""
        error = self.slice.value.error
        if error is not None and error.lost:
            self.show(self._file)

    @action(Policy.LATEST)
    async def show(self, file: File | None) -> None:
        """Preview a file, or nothing for None."""
        self._file = file
        if file is None:
            self.slice.put(PreviewState())
            return
        kind = kind_of(file)
        self.slice.put(PreviewState(file.id, kind, loading=True))
        try:
            await asyncio.sleep(PAUSE)
            if kind == "picture":
                await self._picture(file)
            elif kind == "none":
                self.slice.set(note="No preview of this kind: open it to read it.")
            else:
                await self._text(file)
        finally:
            self.slice.set(loading=False)

    def picture(self, width: int) -> Handle[bytes]:
        """Draw the first page as PNG, `width` pixels wide."""
        return self._loop.run(self._draw(self.slice.value, width))

    async def _draw(self, state: PreviewState, width: int) -> bytes:
        if state.copy is None:
            raise NoPicture(state.note or "Nothing is shown.")
        return await self._renderer.render(state.copy.path, 0, width)

    async def _picture(self, file: File) -> None:
        most = MOST_HOSTED if self._session.slice.value.hosted else MOST
        if file.bytes is None or file.bytes > most:
            self.slice.set(kind="none", note="A large file: open it to see its pages.")
            return
        copy = await self._copies.fetch(DocumentSource("file", file.id, file.filename))
        self._copies.keep(self, copy)
        try:
            count = await self._renderer.page_count(copy.path)
        except NoPicture as error:
            self.slice.set(kind="none", note=str(error))
        else:
            self.slice.set(copy=copy, page_count=count)

    async def _text(self, file: File) -> None:
        async def begin(client: Client) -> tuple[str, bool]:
            content = bytearray()
            async with client.files.content(file.id) as parts:
                async for part in parts:
                    content += part
                    if len(content) > TEXT:
                        break
            more = len(content) > TEXT
            return _decode(bytes(content[:TEXT]), more=more), more

        seen = await self._last_seen.ask(f"preview {file.id}", tuple[str, bool], begin)
        text, more = seen.value
        self.slice.set(text=text, more=more)


def kind_of(file: File) -> PreviewKind:
    """Return the kind of preview that a file allows without OCR."""
    mimetype = file.mimetype or ""
    name = file.filename.lower()
    if mimetype == "application/jsonl" or name.endswith((".jsonl", ".ndjson")):
        return "lines"
    if mimetype == "image/svg+xml" or mimetype.startswith("text/") or name.endswith(_TEXTS):
        return "text"
    if mimetype == "application/pdf" or mimetype.startswith("image/") or name.endswith(".pdf"):
        return "picture"
    return "none"


_TEXTS = (".json", ".xml", ".yaml", ".yml", ".tex", ".bib", ".md", ".txt", ".csv", ".eml", ".ipynb")


def _decode(content: bytes, *, more: bool) -> str:
    """Decode the text, without a truncated last line."""
    encoding = next((name for mark, name in _BYTE_ORDERS if content.startswith(mark)), "utf-8-sig")
    text = clean_text(content.decode(encoding, "replace"))
    return text.rpartition("\n")[0] or text if more else text
