"""Reads picture files as pages, inside a parser. An animation is one page: its first frame."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
from pi_heif import register_heif_opener
from PIL import Image, ImageOps, UnidentifiedImageError

from carrel.server.processes.limits import allow_cpu
from carrel.server.reading.layout.blocks import PageParts, page_layout
from carrel.server.reading.markdown.compose import Raster, compose
from carrel.server.reading.options import ReadOptions, UnreadableDocument, select_pages
from carrel.server.reading.page.elements import PageFrame
from carrel.server.reading.scans.recognition import Look, recognise_page
from carrel.wire.ocr import Page

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "HEIF")
_PAGED = ("TIFF", "HEIF")
"""Formats whose frames are pages; in the others, frames are an animation."""
MAX_FRAMES = 10_000
"""Maximum pages of a picture file."""
PICTURES = frozenset(f"image/{kind.lower()}" for kind in (*FORMATS, "heic"))
"""The media types of picture files."""
MAX_PIXELS = 100_000_000
"""Larger pictures are refused: decoding them would need more memory than a parser has."""
OCR_SIDE = 2200
"""Pixels. Longest side that OCR benefits from."""

_LONG_SIDE = 842.0
"""Points. Every picture is laid out as long as A4, regardless of its resolution."""
_SECONDS_PER_PAGE = 30
_DPI = 72
_LEAST_DPI, _MOST_DPI = 36, 9600
"""Plausible resolutions: a TIFF without one reports one pixel per inch."""

register_heif_opener(thumbnails=False)


class Picture(AbstractContextManager["Picture"]):
    """An open picture file. A context manager; `pages` reads it."""

    def __init__(self, path: Path) -> None:
        Image.MAX_IMAGE_PIXELS = MAX_PIXELS
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        allow_cpu(_SECONDS_PER_PAGE)
        with _translate_errors():
            self._file = Image.open(path, formats=FORMATS)
            paged = self._file.format in _PAGED
            self.page_count: int = getattr(self._file, "n_frames", 1) if paged else 1
        if self.page_count > MAX_FRAMES:
            raise UnreadableDocument(
                f"This picture has more than {MAX_FRAMES:,} pages. Split it and try again."
            )

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def pages(self, options: ReadOptions, look: Look) -> Iterator[Page]:
        """Yield each selected frame when it is read."""
        for index in select_pages(options, self.page_count):
            allow_cpu(_SECONDS_PER_PAGE)
            yield self._page(index, options, look)

    def _page(self, index: int, options: ReadOptions, look: Look) -> Page:
        frame, dpi = self._decode(index)
        points = _LONG_SIDE / max(frame.size)
        size = (frame.width * points, frame.height * points)
        if np.ptp(frame.getextrema(), -1).any():
            picture = on_white(frame)
            found = recognise_page(_reduce(picture), size, look)
        else:
            # Convert no blank page: a document may have thousands.
            picture, found = frame, PageParts(PageFrame(*size))
        raster = Raster(dpi, picture.width, picture.height, points, picture.crop)
        layout = page_layout(found, scored=options.granularity is not None)
        return compose(index, layout, raster, options)

    def picture(self, index: int) -> Image.Image:
        """Return a frame in the size that OCR reads."""
        allow_cpu(_SECONDS_PER_PAGE)
        return _reduce(on_white(self._decode(index)[0]))

    def _decode(self, index: int) -> tuple[Image.Image, int]:
        """Return a frame, upright by its camera orientation, and its resolution."""
        with _translate_errors():
            self._file.seek(index)
            frame = ImageOps.exif_transpose(self._file)
            dpi = max(self._file.info.get("dpi", (_DPI, _DPI)))
            return frame, round(dpi) if _LEAST_DPI <= dpi <= _MOST_DPI else _DPI


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate Pillow's errors to faults of the picture."""
    try:
        yield
    except UnidentifiedImageError as error:
        raise UnreadableDocument("This file is not a picture that can be read.") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise UnreadableDocument(
            f"This picture has more than {MAX_PIXELS // 1_000_000} million pixels."
            " Make it smaller and try again."
        ) from error
    # A TypeError is how Pillow says that a frame has no size.
    except (OSError, ValueError, SyntaxError, EOFError, TypeError) as error:
        raise UnreadableDocument(
            "This picture is damaged: its pixels cannot be decoded."
            " Open it in a viewer to check it."
        ) from error


def on_white(frame: Image.Image) -> Image.Image:
    """Convert to RGB with white paper for transparency."""
    if frame.has_transparency_data:
        frame = frame.convert("RGBA")
        paper = Image.new("RGB", frame.size, "white")
        paper.paste(frame, mask=frame.getchannel("A"))
        return paper
    if frame.mode.startswith("I;16") or frame.mode == "I":
        # Scale 16-bit grey to 8 bits; Pillow would clip everything above 255.
        frame = frame.convert("I").point([value >> 8 for value in range(65536)], "L")
    return frame.convert("RGB")


def _reduce(picture: Image.Image) -> Image.Image:
    """Scale a picture down to the size that OCR benefits from."""
    scale = OCR_SIDE / max(picture.size)
    if scale >= 1:
        return picture
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2)
