"""The page-drawing process: reads JSON lines, answers each with a JSON line and a body."""

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from carrel.pages.errors import NoPicture
from carrel.pages.words import BlockWords, find_words

MAX_MEMORY = 1 << 30
"""Limit of the address space in bytes, on systems that have one."""
MAX_PIXELS = 24_000_000
"""Most pixels of a drawn page."""
MAX_BOOKMARKS = 10_000
"""Entries that are read of a table of contents."""
BLOCK_DETAIL = 2400
"""Pixels for the width of a page on which a word is looked for."""
MAX_SOURCE_PIXELS = 200_000_000
"""Most pixels of a picture before scaling."""


Part = tuple[float, float, float, float]
"""Left, top, width and height of a part, as fractions of the page."""
WHOLE: Part = (0.0, 0.0, 1.0, 1.0)


class Pages(Protocol):
    """An open document."""

    def __len__(self) -> int: ...

    def draw(self, page: int, width: int, part: Part) -> Image.Image:
        """Return a part of a page, `width` pixels wide or less if that is too large."""

    def bookmarks(self) -> Sequence[tuple[int, str, int]]:
        """Return the bookmarks that lead to a page: level from 1, title, page from 0."""


class PDFPages:
    """The pages of a PDF."""

    def __init__(self, path: Path) -> None:
        import pypdfium2

        try:
            self._document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise NoPicture("This PDF needs a password.") from None
            raise NoPicture("This PDF is damaged.") from error
        with suppress(pypdfium2.PdfiumError):
            # To draw the values filled into its form, if it has one.
            self._document.init_forms()

    def __len__(self) -> int:
        return len(self._document)

    def draw(self, page: int, width: int, part: Part) -> Image.Image:
        sheet = self._document[page]
        page_wide, page_high = (max(1.0, side) for side in sheet.get_size())
        left, top = part[0] * page_wide, part[1] * page_high
        wide, high = max(1.0, part[2] * page_wide), max(1.0, part[3] * page_high)
        scale = min(width / wide, (MAX_PIXELS / (wide * high)) ** 0.5)
        # Cropped from left, bottom, right and top.
        crop = (left, page_high - top - high, page_wide - left - wide, top)
        crop = tuple(max(0.0, edge) for edge in crop)
        bitmap = sheet.render(scale=scale, crop=crop, may_draw_forms=True, rev_byteorder=True)
        picture: Image.Image = bitmap.to_pil().convert("RGB")
        return picture

    def bookmarks(self) -> Sequence[tuple[int, str, int]]:
        found = []
        for mark in islice(self._document.get_toc(), MAX_BOOKMARKS):
            place = mark.get_dest()
            page = None if place is None else place.get_index()
            if page is not None:
                found.append((mark.level + 1, mark.get_title(), page))
        return found


class PicturePages:
    """A picture: one page, or one per frame of a TIFF."""

    def __init__(self, path: Path) -> None:
        try:
            self._picture = Image.open(path)
        except UnidentifiedImageError:
            raise NoPicture("There is no picture for this kind of file.") from None
        if self._picture.width * self._picture.height > MAX_SOURCE_PIXELS:
            raise NoPicture("This picture is too large to be drawn.")

    def __len__(self) -> int:
        # Frames of an animation are not pages.
        return getattr(self._picture, "n_frames", 1) if self._picture.format == "TIFF" else 1

    def draw(self, page: int, width: int, part: Part) -> Image.Image:
        frame = ImageSequence.Iterator(self._picture)[page]
        whole = _on_white(_crop(ImageOps.exif_transpose(frame), part))
        scale = min(1.0, width / whole.width, (MAX_PIXELS / (whole.width * whole.height)) ** 0.5)
        size = (max(1, round(whole.width * scale)), max(1, round(whole.height * scale)))
        return whole.resize(size, Image.Resampling.LANCZOS)

    def bookmarks(self) -> Sequence[tuple[int, str, int]]:
        return ()


def _crop(picture: Image.Image, part: Part) -> Image.Image:
    if part == WHOLE:
        return picture
    left, top = part[0] * picture.width, part[1] * picture.height
    right, bottom = left + part[2] * picture.width, top + part[3] * picture.height
    edges = (
        int(left),
        int(top),
        max(round(right), int(left) + 1),
        max(round(bottom), int(top) + 1),
    )
    return picture.crop(edges)


def _on_white(picture: Image.Image) -> Image.Image:
    """Convert to RGB, white where transparent."""
    if picture.mode.startswith("I;16"):
        picture = picture.point(lambda value: value / 256).convert("L")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        picture = Image.new("RGBA", layer.size, "white")
        picture.alpha_composite(layer)
    return picture.convert("RGB")


def open_pages(path: Path) -> Pages:
    """Open a document by its content, regardless of its name.

    Raises:
        NoPicture: it is neither a PDF nor a picture.
    """
    with path.open("rb") as file:
        is_pdf = b"%PDF-" in file.read(1024)
    return PDFPages(path) if is_pdf else PicturePages(path)


def _clamp(part: float) -> float:
    return min(max(part, 0.0), 1.0)


class Worker:
    """Answers requests; keeps the last document open."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._pages: Pages | None = None
        self._block: tuple[object, Image.Image, BlockWords | None] | None = None
        """The last block in which a word was looked for: the others are mostly of it, too."""

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Return the head of the answer to one request, and its body: a PNG, or JSON."""
        try:
            pages = self._open(Path(request["path"]))
            if request["do"] == "count":
                return {"pages": len(pages)}, b""
            if request["do"] == "bookmarks":
                body = json.dumps(pages.bookmarks()).encode()
                return {"size": len(body)}, body
            if not 0 <= request["page"] < len(pages):
                raise NoPicture("The document has no such page.")
            left, top, width, height = request["part"] or WHOLE
            part = (_clamp(left), _clamp(top), _clamp(width), _clamp(height))
            png = BytesIO()
            number, size = request["page"], max(1, request["width"])
            if request["do"] == "word":
                drawn = self._draw_word(pages, request, part, size)
            else:
                drawn = pages.draw(number, size, part)
            # Fast compression: the bytes stay on this machine.
            drawn.save(png, "PNG", compress_level=1)
            return {"size": png.tell()}, png.getvalue()
        except NoPicture as error:
            return {"error": str(error)}, b""
        except MemoryError:
            return {"error": "This page needs too much memory to be drawn."}, b""
        except Exception:
            return {"error": "This page cannot be drawn: it may be damaged."}, b""

    def _draw_word(
        self, pages: Pages, request: dict[str, Any], part: Part, width: int
    ) -> Image.Image:
        """Return the picture of a word of a block, or of the whole block if it is not found."""
        key = (self._path, request["page"], part, request["words"])
        if self._block is None or self._block[0] != key:
            picture = pages.draw(request["page"], max(round(part[2] * BLOCK_DETAIL), 200), part)
            self._block = (key, picture, find_words(picture, request["words"]))
        _, block, found = self._block
        word = (None if found is None else found.crop(request["index"])) or block
        height = max(round(word.height * width / word.width), 1)
        return word.resize((width, height), Image.Resampling.LANCZOS)

    def _open(self, path: Path) -> Pages:
        if self._pages is None or path != self._path:
            self._pages, self._path = open_pages(path), path
        return self._pages


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def serve(
    requests: BinaryIO,
    replies: BinaryIO,
    answer: Callable[[dict[str, Any]], tuple[dict[str, Any], bytes]],
) -> None:
    """Answer requests until the input ends."""
    for line in requests:
        head, body = answer(json.loads(line))
        replies.write(json.dumps(head).encode() + b"\n" + body)
        replies.flush()


if __name__ == "__main__":
    Image.MAX_IMAGE_PIXELS = None  # our own limit has its own message
    warnings.simplefilter("ignore")
    _limit_memory()
    serve(sys.stdin.buffer, sys.stdout.buffer, Worker().answer)
