"""Makes pages until there are enough: draws a look, composes, sets twice, reads off the truth."""

import io
import json
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import pypdfium2

from corpus.compose import Composer, draw_language
from corpus.document import number
from corpus.freehand import Freehand
from corpus.looks import KEPT_APART, Look, kept_look, newspaper_look, random_look
from corpus.receipts import Receipt, receipt_look
from corpus.sources import Library
from corpus.truth import Untrue, pages

MODULES = {
    "weasyprint": "weasy",
    "typst": "typst_",
    "reportlab": "reportlab_",
    "libreoffice": "libreoffice",
    "latex": "latex",
    "groff": "groff",
    "chromium": "chromium",
}
_KINDS: dict[str, Callable[[Composer], Freehand | Receipt]] = {
    "freehand": Freehand,
    "receipt": Receipt,
}
"""Kinds of documents that only HTML can set."""
_LOOKS: dict[str, Callable[[random.Random], Look]] = {
    "receipt": receipt_look,
    "newspaper": newspaper_look,
}
"""Of kinds of documents that have looks of their own."""
MOST_PAGES = {"train": 12, "held": 4}
"""Of one document: more of them teach, or judge by, little that is new."""
LATIN = {"en", "de", "fr", "es", "it", "pt", "nl", "pl"}
SPACED = LATIN | {"el", "ru", "uk", "bg"}
_library: Library
LANGUAGES: dict[str, set[str]] = {"latex": LATIN, "groff": LATIN - {"pl"}, "reportlab": SPACED}


LONGEST = 600
"""Seconds that a document may take: its process ends then."""


@dataclass
class Made:
    documents: int = 0
    pages: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        lost = ", ".join(f"{count} {reason}" for reason, count in sorted(self.dropped.items()))
        return (
            f"{self.pages} pages of {self.documents} documents in {self.seconds:.0f} s"
            f" (dropped: {lost or 'none'})"
        )


def make(content: Path, out: Path, split: str, typesetter: str, wanted: int, seed: int) -> Made:
    """Fill `OUT/SPLIT/TYPESETTER`.

    `typesetter` may name a kept look after it: "weasyprint-journal"; "weasyprint-freehand" sets
    what only HTML can, in random looks, "weasyprint-receipt" receipts, "weasyprint-newspaper"
    narrow columns. Documents are set in a process of their own: one that crashes its typesetter,
    or holds it up, is dropped.
    """
    program, _, kept = typesetter.partition("-")
    if program not in MODULES or kept not in {"", *_KINDS, *_LOOKS, *KEPT_APART}:
        raise SystemExit(f"No typesetter {typesetter}: {', '.join(MODULES)}, or one with -LOOK.")
    folder = out / split / typesetter
    folder.mkdir(parents=True, exist_ok=True)
    made, started = Made(), time.monotonic()
    library = Library(content)
    worker = _worker(library)
    for turn in count():
        if made.pages >= wanted:
            break
        name = f"{seed:03d}-{turn:05d}"
        if (folder / f"{name}.json").exists():
            kept_pages = len(json.loads((folder / f"{name}.json").read_text())["pages"])
        else:
            order = worker.submit(_document, folder / name, f"{seed} {typesetter} {turn}")
            try:
                kept_pages, dropped = order.result()
                made.dropped += dropped
            except BrokenProcessPool:
                worker, kept_pages = _worker(library), 0
                made.dropped["crash of the typesetter"] += 1
        made.pages += kept_pages
        made.documents += bool(kept_pages)
        if made.dropped.total() > 200 + made.pages:
            raise SystemExit(f"Too much is dropped: {made}")
    worker.shutdown()
    made.seconds = time.monotonic() - started
    return made


def _worker(library: Library) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("fork"), _begin, (library,))


def _begin(library: Library) -> None:
    """Keep the library in a worker: its texts are parsed once."""
    global _library
    _library = library


def _document(path: Path, seed: str) -> tuple[int, Counter[str]]:
    """Set a document; return how many of its pages are kept, and why others are not."""
    dropped: Counter[str] = Counter()
    signal.alarm(LONGEST)
    try:
        return _set(path, random.Random(seed), dropped), dropped
    except Untrue as error:
        dropped[str(error)] += 1
    except Exception as error:
        traceback.print_exc(limit=-2)
        dropped[f"failed: {type(error).__name__} {str(error)[:50]}"] += 1
    finally:
        signal.alarm(0)
    return 0, dropped


def _set(path: Path, rng: random.Random, dropped: Counter[str]) -> int:
    split, typesetter = path.parts[-3:-1]
    program, _, kind = typesetter.partition("-")
    setter = import_module(f"corpus.typesetters.{MODULES[program]}")
    draw = _LOOKS.get(kind, random_look)
    look = kept_look(kind, rng) if kind in KEPT_APART else draw(rng)
    look = getattr(setter, "fitted", lambda look, rng: look)(look, rng)
    latin = kind in _LOOKS or kind in KEPT_APART
    language = draw_language(_library, rng, LATIN if latin else LANGUAGES.get(program))
    composer = Composer(_library, language, look.columns, rng, look.numbered)
    document = (_KINDS[kind](composer) if kind in _KINDS else composer).document()
    number(document)
    plain, twin = setter.set_both(document, look)
    kept, truth = pages(plain, twin, document, typesetter, dropped)
    most = MOST_PAGES[split]
    kept, truth["pages"] = kept[:most], truth["pages"][:most]
    if kept:
        path.with_suffix(".pdf").write_bytes(only(plain, kept))
        truth = {"look": look.name, **truth}
        path.with_suffix(".json").write_text(json.dumps(truth, ensure_ascii=False))
    return len(kept)


def only(pdf: bytes, kept: list[int]) -> bytes:
    """Return the document with these pages alone."""
    source = pypdfium2.PdfDocument(pdf)
    if kept == list(range(len(source))):
        return pdf
    target = pypdfium2.PdfDocument.new()
    target.import_pages(source, kept)
    written = io.BytesIO()
    target.save(written)
    return written.getvalue()
