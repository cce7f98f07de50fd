"""Takes pages of tagged PDFs, with the truth that their structure trees tell, where it is sound."""

import ctypes
import hashlib
import json
import re
import statistics
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from corpus.make import only
from corpus.truth import Letter, Untrue, letters, line_boxes, no_collisions

DOCUMENTS, PAGES = 6, 6
"""Taken of a source, and of a document: none of them decides how pages look."""
_OPENED = 80
"""Files of a source that are looked at."""
_LOOKED_AT = 40
"""Pages of a document that the best ones are chosen from."""
_HEADING = re.compile(r"H[1-6]?|Title")
_MARK = re.compile(r"[^\w\s]|\(?[\w.]{1,6}[.):]|\d{1,3}\s|[a-z]\s|[\uf000-\uf0ff]")
_FOLIO = re.compile(r"\W*(?:\w+\W+)?(?:\d{1,4}|[ivxlc]{1,6})(?:\W+(?:\w{1,4}\W+)?\d{1,4})?\W*")
_LEADER = re.compile(r"(\. ?){5}|…{3}|_{4}")
_CAPTION = re.compile(r"(?:\w+\s)?(?:\w+)\W{0,2}\d+[.:]|source|note", re.IGNORECASE)
_TALL = {"Document", "Part", "Art", "Sect", "Div", "NonStruct", "Private", "Index", "Form", "L"}
_WHOLE = {
    "Caption": "caption",
    "Note": "footnote",
    "FENote": "footnote",
    "TOCI": "contents_entry",
    "Code": "code",
    "BibEntry": "reference",
    "Figure": "figure_label",
}
"""Whose parts are no blocks of their own."""


@dataclass
class Tag:
    """What the tree says of a stretch of text; the role is None where it says nothing."""

    kind: str
    role: str | None
    level: int | None = None
    table: int | None = None
    row: int | None = None
    column: int | None = None
    rowspan: int = 1
    colspan: int = 1
    head: bool | None = None
    paragraphs: int = 0
    letters: list[Letter] = field(default_factory=list)
    look: list[tuple[float, bool]] = field(default_factory=list)
    """The size of each letter, and whether it is bold."""
    sound: bool = True

    @property
    def lines(self) -> list[list[float]]:
        return line_boxes(self.letters)

    @property
    def text(self) -> str:
        found = []
        for before, letter in pairwise([self.letters[0], *self.letters]):
            high = max(letter.bottom - letter.top, before.bottom - before.top, 1)
            apart = letter.left - before.right > 0.18 * high or letter.right < before.left
            found.append((" " if apart else "") + letter.text)
        return "".join(found)

    @property
    def size(self) -> float:
        return statistics.median(size for size, _ in self.look)

    @property
    def bold(self) -> bool:
        return sum(bold for _, bold in self.look) > len(self.look) / 2


class _Table:
    def __init__(self, number: int) -> None:
        self.number, self.row, self.column = number, -1, 0
        self.taken: set[tuple[int, int]] = set()

    def cell(self, element: Any, kind: str) -> Tag:
        wide, high = (int(_attribute(element, name)) for name in (b"ColSpan", b"RowSpan"))
        self.skip()
        for down in range(high):
            self.taken |= {(self.row + down, self.column + k) for k in range(wide)}
        tag = Tag(kind, "cell", None, self.number, self.row, self.column, high, wide)
        return tag

    def skip(self) -> None:
        while (self.row, self.column) in self.taken:
            self.column += 1

    def nothing(self) -> None:
        """Pass a cell that is empty or on another page."""
        self.skip()
        self.taken.add((self.row, self.column))


class _Walk:
    """Goes through a page's tree, and keeps the tag of each stretch of marked content."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        self.tags: dict[int, Tag] = {}
        self.tables = 0
        tree = pdfium.FPDF_StructTree_GetForPage(page.raw)
        if not tree:
            raise Untrue("no tree")
        try:
            for index in range(pdfium.FPDF_StructTree_CountChildren(tree)):
                child = pdfium.FPDF_StructTree_GetChildAtIndex(tree, index)
                if child:
                    self._walk(child, None, 0, None, 0)
        finally:
            pdfium.FPDF_StructTree_Close(tree)

    def _walk(
        self, element: Any, inside: Tag | None, depth: int, table: _Table | None, nested: int
    ) -> None:
        if nested > 60:
            raise Untrue("tree without end")
        kind, raw = _kind(element), _kind(element, raw=True)
        whole = inside is not None and inside.kind in {"TD", "TH", *_WHOLE}
        if kind == "Table":
            table, inside = _Table(self.tables), None
            self.tables += 1
        elif kind == "TR" and table:
            table.row, table.column = table.row + 1, 0
        elif kind in {"TD", "TH"} and table and table.row >= 0:
            inside = table.cell(element, kind)
        elif kind in {"Note", "FENote", "Caption"} or (kind in _WHOLE and not whole):
            inside = Tag(kind, _WHOLE[kind], depth if kind == "TOCI" else None)
        elif whole:
            if inside and (_HEADING.fullmatch(kind) or kind == "LI"):
                inside.paragraphs += 1
        elif _HEADING.fullmatch(kind) or raw == "Title":
            inside = Tag(kind, "heading", int(kind[1]) if kind[1:].isdigit() else 1)
        elif kind in {"L", "TOC"}:
            depth += 1
        elif kind == "LI":
            inside = Tag(kind, "list_item", depth)
        elif kind == "P":
            if inside is not None and inside.kind == "LI" and not inside.paragraphs:
                inside.paragraphs = 1
            else:
                inside = Tag(kind, None)
        elif kind == "Formula" and inside is None:
            inside = Tag(kind, "formula")
        elif kind in _TALL:
            inside = inside if kind == "L" else None
        for index in range(pdfium.FPDF_StructElement_CountChildren(element)):
            child = pdfium.FPDF_StructElement_GetChildAtIndex(element, index)
            if child:
                self._walk(child, inside, depth, table, nested + 1)
                continue
            mark = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if mark >= 0 and inside is not None and kind not in _TALL | {"LI", "TR", "Table"}:
                self.tags[mark] = inside
            elif kind == "TR" and table:
                table.nothing()


def _kind(element: Any, *, raw: bool = False) -> str:
    buffer = (ctypes.c_ushort * 64)()
    ask = pdfium.FPDF_StructElement_GetRawType if raw else pdfium.FPDF_StructElement_GetType
    ask(element, buffer, ctypes.sizeof(buffer))
    return _said(buffer)


def _said(buffer: Any) -> str:
    return bytes(buffer).decode("utf-16-le", "replace").partition("\0")[0]


def _attribute(element: Any, name: bytes) -> float:
    for index in range(pdfium.FPDF_StructElement_GetAttributeCount(element)):
        attributes = pdfium.FPDF_StructElement_GetAttributeAtIndex(element, index)
        found = pdfium.FPDF_StructElement_Attr_GetValue(attributes, name)
        number = ctypes.c_float()
        if found and pdfium.FPDF_StructElement_Attr_GetNumberValue(found, ctypes.byref(number)):
            return max(1, min(40, number.value))
    return 1


def _artifact(thing: Any) -> bool:
    buffer, length = (ctypes.c_ushort * 64)(), ctypes.c_ulong()
    for index in range(pdfium.FPDFPageObj_CountMarks(thing)):
        mark = pdfium.FPDFPageObj_GetMark(thing, index)
        pdfium.FPDFPageObjMark_GetName(mark, buffer, ctypes.sizeof(buffer), ctypes.byref(length))
        if _said(buffer) == "Artifact":
            return True
    return False


def page_truth(page: pypdfium2.PdfPage) -> dict[str, Any]:
    """Return what a page's tree tells of it, or raise `Untrue` where that is little."""
    width, height = page.get_size()
    if page.get_rotation() or any(page.get_mediabox()[:2]) or any(page.get_cropbox()[:2]):
        raise Untrue("a turned or cut page")
    drawn = [one for one in letters(page) if -1 < one.left < width and -1 < one.top < height]
    if not 150 < len(drawn) < 9_000:
        raise Untrue("few letters or very many")
    if sum("\ue000" <= one.text <= "\uf8ff" or one.text == "\ufffd" for one in drawn) > 0.05 * len(
        drawn
    ):
        raise Untrue("letters without a meaning")
    tags = _Walk(page).tags
    artifacts = _fill(page, drawn, tags)
    found: list[Tag] = []
    for tag in tags.values():
        if tag.letters and not any(tag is one for one in found):
            found.append(tag)
    told = sum(len(tag.letters) for tag in found)
    if told + len(artifacts) < 0.9 * len(drawn) or told < 0.5 * len(drawn):
        raise Untrue("text without tags")
    _judge(found, width)
    found += _margins(artifacts, found, height)
    if sum(len(tag.letters) for tag in found if tag.sound) < 0.7 * len(drawn):
        raise Untrue("tags that cannot be so")
    elements = []
    for number, tag in enumerate(one for one in found if one.sound):
        elements.append(
            {
                "id": None if tag.role == "figure_label" else number + 1,
                "role": tag.role,
                "level": tag.level,
                "block": number,
                "order": number,
                "table": tag.table,
                "row": tag.row,
                "column": tag.column,
                "rowspan": tag.rowspan,
                "colspan": tag.colspan,
                "head": tag.head,
                "text": tag.text,
                "boxes": [[round(value, 2) for value in box] for box in tag.lines],
            }
        )
    no_collisions(elements)
    return {"width": round(width, 2), "height": round(height, 2), "elements": elements}


def _fill(page: pypdfium2.PdfPage, drawn: list[Letter], tags: dict[int, Tag]) -> list[Letter]:
    """Give each tag its letters; return those of artifacts."""
    layer = page.get_textpage()
    box, flags = pdfium.FS_RECTF(), ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    artifacts = []
    known: dict[int, tuple[int, bool]] = {}
    try:
        for letter in drawn:
            thing = pdfium.FPDFText_GetTextObject(layer, letter.index)
            key = ctypes.addressof(thing.contents) if thing else 0
            if key not in known:
                mark = pdfium.FPDFPageObj_GetMarkedContentID(thing) if thing else -1
                known[key] = (mark, mark not in tags and bool(thing) and _artifact(thing))
            mark, artifact = known[key]
            if artifact:
                artifacts.append(letter)
            if mark not in tags:
                continue
            pdfium.FPDFText_GetLooseCharBox(layer, letter.index, ctypes.byref(box))
            pdfium.FPDFText_GetFontInfo(layer, letter.index, name, 128, ctypes.byref(flags))
            bold = pdfium.FPDFText_GetFontWeight(layer, letter.index) >= 600
            bold |= any(word in name.value.lower() for word in (b"bold", b"black", b"heavy"))
            tags[mark].letters.append(letter)
            tags[mark].look.append((abs(box.top - box.bottom), bold))
    finally:
        layer.close()
    return artifacts


def _margins(artifacts: list[Letter], found: list[Tag], height: float) -> list[Tag]:
    """Return running heads and folios: artifacts above and below what is tagged."""
    if not found:
        return []
    top = min(one.top for tag in found for one in tag.letters)
    bottom = max(one.bottom for tag in found for one in tag.letters)
    pieces: list[Tag] = []
    for letter in artifacts:
        last = pieces[-1].letters[-1] if pieces else None
        high = max(letter.bottom - letter.top, 4)
        if (
            last is None
            or abs((last.top + last.bottom - letter.top - letter.bottom) / 2) > 0.6 * high
            or not -high < letter.left - last.right < 1.5 * high
        ):
            pieces.append(Tag("Artifact", "running_head"))
        pieces[-1].letters.append(letter)
        pieces[-1].look.append((high, False))
    for piece in pieces:
        above = max(one.bottom for one in piece.letters) < min(top + 2, 0.2 * height)
        below = min(one.top for one in piece.letters) > max(bottom - 2, 0.8 * height)
        piece.sound = above or below
        if _FOLIO.fullmatch(piece.text.strip()):
            piece.role = "folio"
    return pieces


def _judge(found: list[Tag], width: float) -> None:
    """Take away what cannot be so, and tell the roles of paragraphs that are plainly text."""
    prose = [tag for tag in found if tag.kind in {"P", "LI"} and len(tag.letters) > 80]
    sizes = [size for tag in prose or found for size, _ in tag.look]
    body = statistics.median(sizes)
    for number in {tag.table for tag in found if tag.table is not None}:
        cells = [tag for tag in found if tag.table == number]
        sound = _is_table(cells)
        for cell in cells:
            cell.sound = sound
    for tag in found:
        if tag.role == "cell":
            continue
        lines = tag.lines
        if tag.kind != "Figure" and (_is_torn(tag, lines) or len(lines) > 45):
            tag.sound = False
        elif tag.role == "heading":
            plain = tag.size < 1.08 * body and not tag.bold and not tag.text.isupper()
            long = len(tag.letters) > 160 or len(lines) > 3
            if plain or long or tag.text.endswith((".", ";", ",")) or tag.text[:1].islower():
                tag.role = None
        elif tag.role == "list_item":
            if not _MARK.match(tag.text) or (tag.bold and len(lines) == 1):
                tag.role = None
        elif tag.role == "footnote":
            if tag.size > 0.97 * body:
                tag.role = None
        elif tag.role == "figure_label":
            tag.sound = len(tag.letters) < 60 * max(1, len(lines)) and len(lines) < 80
            if len(tag.letters) > 20 * len(lines):
                tag.sound = False
        elif tag.role is None and _is_text(tag, lines, body, width):
            tag.role = "text"
    heads = sum(len(tag.letters) for tag in found if tag.role == "heading")
    if heads > 0.35 * sum(len(tag.letters) for tag in found):
        for tag in found:
            tag.role = None if tag.role == "heading" else tag.role
    paragraphs = [tag for tag in found if tag.kind == "P"]
    cut = sum(_is_cut(one, two) for one, two in pairwise(paragraphs))
    if cut > 1 and cut > 0.12 * len(paragraphs):
        raise Untrue("paragraphs of one line")


def _is_text(tag: Tag, lines: Sequence[Sequence[float]], body: float, width: float) -> bool:
    """Whether a paragraph looks like nothing but text: a single line may be anything."""
    text, wide = tag.text, sorted(box[2] - box[0] for box in lines[:-1])
    if tag.bold or not 0.93 * body < tag.size < 1.07 * body or len(tag.letters) < 40 or not wide:
        return False
    if any(begins.match(text) for begins in (_MARK, _CAPTION)) or _LEADER.search(text):
        return False
    whole = text[:1].isupper() and text.endswith((".", "?", "!", "。"))
    return wide[-1] > 0.3 * width and wide[0] > 0.6 * wide[-1] and (whole or len(lines) > 3)


def _is_torn(tag: Tag, lines: Sequence[Sequence[float]]) -> bool:
    """Whether a paragraph has gaps in its lines, or lines of several paragraphs."""
    if tag.kind != "TOCI" and _has_gap(tag):
        return True
    if len(lines) < 2:
        return False
    sizes = sorted(size for size, _ in tag.look)
    if sizes[int(0.9 * len(sizes))] > 1.3 * sizes[int(0.1 * len(sizes))]:
        return True
    downs = [two[3] - one[3] for one, two in pairwise(lines) if two[3] - one[3] > 0.6 * tag.size]
    return bool(downs) and max(downs) > max(1.7 * statistics.median(downs), 2.3 * tag.size)


def _has_gap(tag: Tag) -> bool:
    """Whether letters of a line stand much further apart than its words do."""
    gaps: list[list[float]] = [[]]
    # A mark and its item may stand apart.
    for one, two in pairwise(tag.letters[6 if tag.kind in {"LI", "Note"} else 0 :]):
        if abs(one.top + one.bottom - two.top - two.bottom) >= one.bottom - one.top:
            gaps.append([])
        elif two.left - one.right > 0.15 * tag.size:
            gaps[-1].append(two.left - one.right)
    return any(
        max(line) > max(2.2 * tag.size, 1.6 * statistics.median(line)) for line in gaps if line
    )


def _is_cut(one: Tag, two: Tag) -> bool:
    """Whether a paragraph goes on in the middle of a sentence of the one before."""
    first, second = one.letters[-1], two.letters[0]
    down = second.bottom - first.bottom
    return (
        second.text.islower()
        and (first.text.isalnum() or first.text in ",-")
        and 0 < down < 2 * one.size
        and abs(one.size - two.size) < 0.05 * one.size
    )


def _is_table(cells: list[Tag]) -> bool:
    """Whether rows lie below each other and columns beside each other; tells head rows then."""
    rows = sorted({cell.row for cell in cells if cell.row is not None})
    columns = {cell.column for cell in cells}
    sizes = [len(cell.letters) for cell in cells]
    if len(rows) < 2 or len(columns) < 2 or len(cells) < 4 or max(sizes) > 900:
        return False
    if statistics.mean(sizes) > 150 or any(cell.paragraphs > 1 for cell in cells):
        return False
    boxes = {
        id(cell): (
            min(one.left for one in cell.letters),
            min(one.top for one in cell.letters),
            max(one.right for one in cell.letters),
            max(one.bottom for one in cell.letters),
        )
        for cell in cells
    }
    single = [cell for cell in cells if cell.rowspan == 1]
    bands = []
    for row in rows:
        held = [boxes[id(cell)] for cell in single if cell.row == row]
        if held:
            bands.append((min(box[1] for box in held), max(box[3] for box in held)))
    if any(one[1] > two[0] + 0.25 * min(one[1] - one[0], two[1] - two[0])
           for one, two in pairwise(bands)):  # fmt: skip
        return False
    if not _stand_beside(
        [(cell.column or 0, boxes[id(cell)]) for cell in cells if cell.colspan == 1]
    ):
        return False
    if _is_stacked(cells, rows):
        return False
    _tell_heads(cells, rows)
    return True


def _stand_beside(cells: Sequence[tuple[int, tuple[float, float, float, float]]]) -> bool:
    """Whether cells of later columns are on one side of those of earlier ones."""
    number, boxes = np.array([one for one, _ in cells]), np.array([box for _, box in cells])
    later = number[None] > number[:, None]
    left, right = boxes[:, 0], boxes[:, 2]
    if (later & (left[None] < left[:, None])).sum() > later.sum() / 2:
        left, right = -right, -left
    over = later & (right[:, None] > left[None] + 1.5)
    turned = later & ((left + right)[:, None] > (left + right)[None])
    others = (later | later.T).sum(1)
    struck = (over | over.T).sum(1)
    return bool(turned.sum() <= 0.01 * later.sum() and (struck <= 0.3 * others + 0.5).all())


def _is_stacked(cells: list[Tag], rows: Sequence[int]) -> bool:
    """Whether a row holds several: as many lines in each of its cells."""
    for row in rows:
        counts = [len(cell.lines) for cell in cells if cell.row == row]
        if len(counts) > 2 and min(counts) > 2 and max(counts) == min(counts):
            return True
    return False


def _tell_heads(cells: list[Tag], rows: Sequence[int]) -> None:
    """Rows of head cells alone, above all others, are the head; unknown where there is none."""
    head = 0
    for row in rows:
        if not all(cell.kind == "TH" for cell in cells if cell.row == row):
            break
        head += 1
    for cell in cells:
        place = rows.index(cell.row or 0)
        if head == len(rows):
            cell.head = None
        elif head:
            cell.head = place < head
        else:
            cell.head = None if place < 3 else False


def take(clones: Path, out: Path, without: Collection[str] = ()) -> Counter[str]:
    """Fill `OUT/train/tagged` and, with a third of the sources, `OUT/held/tagged`."""
    counts: Counter[str] = Counter()
    for clone in sorted(path for path in clones.iterdir() if path.is_dir()):
        if clone.name in without:
            continue
        split = "held" if _digest(clone.name) % 3 == 0 else "train"
        folder = out / split / "tagged"
        folder.mkdir(parents=True, exist_ok=True)
        taken = 0
        for name, data in _documents(clone, without):
            if taken == DOCUMENTS:
                break
            path = folder / f"{clone.name[:40].replace('.', '_')}-{_digest(name) % 0xFFFFFF:06x}"
            taken += _take(path, data, counts)
        counts["sources"] += taken > 0
    return counts


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


def _documents(clone: Path, without: Collection[str]) -> Iterator[tuple[str, bytes]]:
    git = next((one for one in (clone / "repo/.git", clone / "repo", clone / ".git", clone)
                if (one / "HEAD").is_file()), None)  # fmt: skip
    if git is None:
        return
    order = ["git", "-C", str(git)]
    listed = subprocess.run([*order, "ls-tree", "-r", "-z", "HEAD"], capture_output=True).stdout
    found = []
    for line in listed.decode("utf-8", "replace").split("\0"):
        about, _, name = line.partition("\t")
        if name.lower().endswith(".pdf") and about.split()[2] not in without:
            found.append((_digest(about.split()[2]), name, about.split()[2]))
    for _, name, blob in sorted(found)[:_OPENED]:
        yield name, subprocess.run([*order, "cat-file", "blob", blob], capture_output=True).stdout


def _take(path: Path, data: bytes, counts: Counter[str]) -> bool:
    """Write the pages of a tagged document that are sound and say most."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return False
    if not pdfium.FPDFCatalog_IsTagged(document.raw):
        document.close()
        return False
    counts["tagged documents"] += 1
    told: list[tuple[float, int, dict[str, Any]]] = []
    for index in range(min(len(document), _LOOKED_AT)):
        try:
            truth = page_truth(document[index])
        except Untrue as error:
            counts[f"dropped: {error}"] += 1
            continue
        roles = Counter(element["role"] for element in truth["elements"])
        worth = sum(min(4, count) for role, count in roles.items() if role not in {None, "text"})
        told.append((-worth, index, truth))
    told.sort(key=lambda one: one[:2])
    kept = sorted((index, truth) for worth, index, truth in told[:PAGES] if worth)
    if kept:
        path.with_suffix(".pdf").write_bytes(only(data, [index for index, _ in kept]))
        about = {"typesetter": "tagged", "look": "tagged", "language": "und"}
        pages = [truth for _, truth in kept]
        path.with_suffix(".json").write_text(json.dumps({**about, "pages": pages}))
        counts["documents"] += 1
        counts["pages"] += len(kept)
    document.close()
    return bool(kept)
