"""Makes pages until there are enough: draws a look, composes, sets twice, reads off the truth."""

import importlib
import io
import json
import random
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2

from corpus.compose import Composer, draw_language
from corpus.document import number
from corpus.looks import KEPT_APART, Look, kept_look, random_look
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
MOST_PAGES = {"train": 12, "held": 4}
"""Of one document: more of them teach, or judge by, little that is new."""
LATIN = {"en", "de", "fr", "es", "it", "pt", "nl", "pl"}
SPACED = LATIN | {"el", "ru", "uk", "bg"}
LANGUAGES: dict[str, set[str]] = {"latex": LATIN, "groff": LATIN - {"pl"}, "reportlab": SPACED}


@dataclass
class Made:
    documents: int = 0
    pages: int = 0
    dropped: dict[str, int] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        lost = ", ".join(f"{count} {reason}" for reason, count in sorted(self.dropped.items()))
        return (
            f"{self.pages} pages of {self.documents} documents in {self.seconds:.0f} s of processor"
            f" (dropped: {lost or 'none'})"
        )


def make(content: Path, out: Path, split: str, typesetter: str, wanted: int, seed: int) -> Made:
    """Fill `OUT/SPLIT/TYPESETTER`.

    `typesetter` may name a kept look after it: "weasyprint-journal".
    """
    program, _, kept = typesetter.partition("-")
    if program not in MODULES or (kept and kept not in KEPT_APART):
        raise SystemExit(f"No typesetter {typesetter}: {', '.join(MODULES)}, or one with -LOOK.")
    setter = importlib.import_module(f"corpus.typesetters.{MODULES[program]}")
    library = Library(content)
    folder = out / split / typesetter
    folder.mkdir(parents=True, exist_ok=True)
    made, started, turn = Made(), time.process_time(), 0
    while made.pages < wanted:
        name = f"{seed:03d}-{turn:05d}"
        rng = random.Random(f"{seed} {typesetter} {turn}")
        turn += 1
        if (folder / f"{name}.json").exists():
            made.pages += len(json.loads((folder / f"{name}.json").read_text())["pages"])
            made.documents += 1
            continue
        look = kept_look(kept, rng) if kept else random_look(rng)
        look = getattr(setter, "fitted", lambda look, rng: look)(look, rng)
        language = draw_language(library, rng, LATIN if kept else LANGUAGES.get(program))
        try:
            count = _document(library, language, look, rng, setter, folder / name, made)
        except Untrue as error:
            made.dropped[str(error)] += 1
            continue
        except Exception as error:
            reason = f"failed: {type(error).__name__} {str(error)[:50]}"
            if not made.dropped[reason]:
                traceback.print_exc()
            made.dropped[reason] += 1
            if sum(made.dropped.values()) > 200 + made.pages:
                raise
            continue
        made.pages += count
        made.documents += bool(count)
    made.seconds = time.process_time() - started
    return made


def _document(
    library: Library,
    language: str,
    look: Look,
    rng: random.Random,
    setter: object,
    path: Path,
    made: Made,
) -> int:
    composer = Composer(library, language, look.columns, rng, look.numbered)
    document = composer.document()
    number(document)
    plain, twin = setter.set_both(document, look)  # type: ignore[attr-defined]
    kept, truth = pages(plain, twin, document, path.parent.name, made.dropped)
    most = MOST_PAGES[path.parent.parent.name]
    kept, truth["pages"] = kept[:most], truth["pages"][:most]
    if not kept:
        return 0
    path.with_suffix(".pdf").write_bytes(_only(plain, kept))
    truth = {"look": look.name, **truth}
    path.with_suffix(".json").write_text(json.dumps(truth, ensure_ascii=False))
    return len(kept)


def _only(pdf: bytes, kept: list[int]) -> bytes:
    """Return the document with these pages alone."""
    source = pypdfium2.PdfDocument(pdf)
    if kept == list(range(len(source))):
        return pdf
    target = pypdfium2.PdfDocument.new()
    target.import_pages(source, kept)
    written = io.BytesIO()
    target.save(written)
    return written.getvalue()
