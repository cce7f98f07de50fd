"""Lines in scripts that the built-in models do not know, read by Tesseract where it is installed.

It gets pictures of single lines, never a document, in a process that ends after one page.
"""

import csv
import io
import logging
import os
import subprocess
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from carrel.server.reading.languages import SCRIPTS, languages
from carrel.server.reading.ocr.detector import DetectedLine
from carrel.server.reading.ocr.inference import Pixels
from carrel.server.reading.ocr.line_reader import ReadLine, ReadWord

log = logging.getLogger(__name__)

_UNREAD = 0.5
"""Confidence of a line below which the built-in models do not know its letters."""
_SURE = 0.9
"""Confidence of a line that need not be read again on a page with other scripts."""
_LONG = 3.0
"""Least width of a line in heights; shorter ones are parts of pictures."""
_SAMPLE = 2
"""Longest lines that are read in every language, to choose one."""
_MOST_SCRIPTS = 2
"""Most scripts looked for on one page, besides those of the built-in models."""
_LEAST_SURE, _LEAST_LETTERS = 0.6, 3
"""Least mean confidence of a line in another script, and fewest letters of that script."""
_CERTAIN = 0.8
"""Confidence of a sample whose language is right: no other is tried."""
_GREEK = 0.3
"""Part of Greek letters in a line whose accents the built-in models lose."""
_BLANK = 0.25
"""Least gap between two Korean words, in heights of the line."""
_HEIGHT, _MARGIN = 56, 16
"""Pixels of a line shown to Tesseract, and of the paper around it."""
_SECONDS = 60


def read_other_scripts(found: Sequence[DetectedLine], lines: Sequence[ReadLine]) -> list[ReadLine]:
    """Return the lines with those in other scripts, shown by `found`, as Tesseract reads them."""
    read = list(lines)
    for _ in range(_MOST_SCRIPTS):
        unread = [
            number
            for number, line in enumerate(read)
            if _is_other(line) and found[number].length >= _LONG * found[number].pixels.shape[0]
        ]
        unread.sort(key=lambda number: -found[number].length)
        chosen = _choose([found[number].pixels for number in unread[:_SAMPLE]])
        if chosen is None:
            break
        again = [number for number, line in enumerate(read) if line.confidence < _SURE]
        # Beside other scripts, English loses some of their words to Latin letters.
        mixed = any(line.confidence >= _SURE for line in read)
        pictures = [found[number].pixels for number in again]
        language = f"{chosen}+eng" if mixed else chosen
        for number, line in zip(again, _read(pictures, language), strict=True):
            # The confidence of a line with lost accents is high: its letters are known.
            surer = line.confidence > read[number].confidence or _is_other(read[number])
            if surer and _is_of(line, chosen):
                read[number] = line
    return read


def _is_other(line: ReadLine) -> bool:
    greek = sum(_script(letter) == "GREEK" for letter in line.text)
    return line.confidence < _UNREAD or (
        "ell" in languages() and line.confidence < _SURE and greek > _GREEK * len(line.text)
    )


def _is_of(line: ReadLine, language: str) -> bool:
    own = sum(_script(letter) == SCRIPTS[language] for letter in line.text)
    return line.confidence >= _LEAST_SURE and own >= _LEAST_LETTERS


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _choose(pictures: Sequence[Pixels]) -> str | None:
    """Return the language that reads the pictures best, or None if none can."""
    best, chosen = 0.0, None
    for language in languages() if pictures else ():
        lines = [line for line in _read(pictures, language) if _is_of(line, language)]
        score = sum(line.confidence for line in lines) / len(pictures)
        if score > best:
            best, chosen = score, language
        if score >= _CERTAIN:
            break
    return chosen


def _read(pictures: Sequence[Pixels], language: str) -> list[ReadLine]:
    """Read pictures of lines; a line that fails is empty."""
    shown = [_render_line(picture) for picture in pictures]
    pages = io.BytesIO()
    shown[0].save(pages, "TIFF", save_all=True, append_images=shown[1:])
    command = ["tesseract", "stdin", "stdout", "-l", language, "--dpi", "200", "--psm", "7", "tsv"]
    try:
        answer = subprocess.run(
            command,
            input=pages.getvalue(),
            capture_output=True,
            timeout=_SECONDS,
            # By default it spins on every core while it waits.
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log.warning("Tesseract failed: %s", type(error).__name__)
        return [_line(())] * len(shown)
    words = defaultdict[int, list[ReadWord]](list)
    for number, word in _words(answer.stdout.decode("utf-8", "replace"), shown):
        words[number].append(word)
    if SCRIPTS[language[:3]] == "HANGUL":
        words |= {number: _join_syllables(line, pictures[number]) for number, line in words.items()}
    return [_line(words[number]) for number in range(len(shown))]


def _join_syllables(words: Sequence[ReadWord], pixels: Pixels) -> list[ReadWord]:
    """Join the syllables of Korean words, which Tesseract parts."""
    least = _BLANK * pixels.shape[0] / pixels.shape[1]
    joined = [words[0]]
    for word in words[1:]:
        last = joined[-1]
        if word.start - last.end >= least:
            joined.append(word)
        else:
            sure = min(last.confidence, word.confidence)
            joined[-1] = ReadWord(last.text + word.text, sure, last.start, word.end)
    return joined


def _line(words: Sequence[ReadWord]) -> ReadLine:
    letters = sum(len(word.text) for word in words)
    sure = sum(len(word.text) * word.confidence for word in words) / max(1, letters)
    return ReadLine(" ".join(word.text for word in words), sure, list(words))


def _words(table: str, shown: Sequence[Image.Image]) -> Iterator[tuple[int, ReadWord]]:
    """Yield the words of Tesseract's table, each with the number of its line's picture."""
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row["text"] or "").strip()
        if row["level"] != "5" or not text:
            continue
        number = int(row["page_num"]) - 1
        width = shown[number].width - 2 * _MARGIN
        start = (int(row["left"]) - _MARGIN) / width
        end = start + int(row["width"]) / width
        sure = max(0.0, float(row["conf"]) / 100)
        # Tesseract takes a Greek letter for the sign of millionths.
        text = text.replace("\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}")
        yield number, ReadWord(text, sure, min(1.0, max(0.0, start)), min(1.0, max(0.0, end)))


def _render_line(pixels: Pixels) -> Image.Image:
    """Return a line as dark letters on white paper, with a margin."""
    grey = pixels.mean(2)
    paper = float(np.median(grey))
    if paper < 128:
        grey, paper = 255 - grey, 255 - paper
    flat = np.clip(grey * (255 / max(1.0, paper)), 0, 255).astype(np.uint8)
    line = Image.fromarray(flat)
    width = max(1, round(line.width * _HEIGHT / line.height))
    line = line.resize((width, _HEIGHT), Image.Resampling.BICUBIC)
    page = Image.new("L", (width + 2 * _MARGIN, _HEIGHT + 2 * _MARGIN), 255)
    page.paste(line, (_MARGIN, _MARGIN))
    return page
