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

from carrel.server.reading.page_model.network import ROLES
from carrel.server.reading.page_model.tags import Tag
from carrel.server.reading.pdf.structure import ContentTags
from corpus.make import only
from corpus.truth import Letter, Untrue, letters, line_boxes, no_collisions

DOCUMENTS, PAGES = 6, 6
"""Taken of a source, and of a document: none of them decides how pages look."""
_OPENED = 80
"""Files of a source that are looked at."""
_LOOKED_AT = 40
"""Pages of a document that the best ones are chosen from."""
_MARK = re.compile(r"[^\w\s]|\(?[\w.]{1,6}[.):]|\d{1,3}\s|[a-z]\s|[\uf000-\uf0ff]")
_FOLIO = re.compile(r"\W*(?:\w+\W+)?(?:\d{1,4}|[ivxlc]{1,6})(?:\W+(?:\w{1,4}\W+)?\d{1,4})?\W*")
_LEADER = re.compile(r"(\. ?){5}|…{3}|_{4}")
_CITED = re.compile(r"^\[\w{1,12}\]|\b(?:19|20)\d\d[a-z]?\)?[.,;:]|\bet al\b|\bdoi\b")
"""In an item of a bibliography, which is a reference in other corpora."""
_CAPTION = re.compile(r"(?:\w+\s)?(?:\w+)\W{0,2}\d+[.:]|source|note", re.IGNORECASE)


@dataclass
class Block:
    """A tag with its text; the role and the head are None where the tree says nothing of them."""

    tag: Tag
    letters: list[Letter] = field(default_factory=list)
    look: list[tuple[float, bool]] = field(default_factory=list)
    """The size of each letter, and whether it is bold."""
    role: str | None = None
    head: bool | None = None
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
    def around(self) -> tuple[float, float, float, float]:
        lefts, tops, rights, bottoms = zip(*self.lines, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)

    @property
    def size(self) -> float:
        return statistics.median(size for size, _ in self.look)

    @property
    def bold(self) -> bool:
        return sum(bold for _, bold in self.look) > len(self.look) / 2


def _artifact(thing: Any) -> bool:
    buffer, length = (ctypes.c_ushort * 64)(), ctypes.c_ulong()
    for index in range(pdfium.FPDFPageObj_CountMarks(thing)):
        mark = pdfium.FPDFPageObj_GetMark(thing, index)
        pdfium.FPDFPageObjMark_GetName(mark, buffer, ctypes.sizeof(buffer), ctypes.byref(length))
        if bytes(buffer).decode("utf-16-le", "replace").startswith("Artifact\0"):
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
    found, artifacts = _fill(page, drawn)
    told = sum(len(block.letters) for block in found)
    if told + len(artifacts) < 0.9 * len(drawn) or told < 0.5 * len(drawn):
        raise Untrue("text without tags")
    _judge(found, width)
    found += _margins(artifacts, found, height)
    found = [block for block in found if block.sound]
    if sum(len(block.letters) for block in found) < 0.7 * len(drawn):
        raise Untrue("tags that cannot be so")
    elements = [_element(number, block) for number, block in enumerate(found)]
    no_collisions(elements)
    return {"width": round(width, 2), "height": round(height, 2), "elements": elements}


def _element(number: int, block: Block) -> dict[str, Any]:
    tag, cell = block.tag, block.role == "cell"
    return {
        "id": number + 1,
        "role": block.role,
        "level": None,
        "block": number,
        "order": number,
        "table": tag.table if cell else None,
        "row": tag.top - 1 if cell else None,
        "column": tag.left if cell else None,
        "rowspan": tag.bottom - tag.top + 1,
        "colspan": tag.right - tag.left + 1,
        "head": block.head,
        "text": block.text,
        "boxes": [[round(value, 2) for value in box] for box in block.lines],
    }


def _fill(page: pypdfium2.PdfPage, drawn: list[Letter]) -> tuple[list[Block], list[Letter]]:
    """Return the blocks with their letters, and the letters of artifacts."""
    tags = {mark: tag for mark, tag in ContentTags(page.raw).tags.items() if tag.block}
    blocks = {tag.block: Block(tag, role=ROLES[tag.role] if tag.role >= 0 else None)
              for tag in tags.values()}  # fmt: skip
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
            block = blocks[tags[mark].block]
            block.letters.append(letter)
            block.look.append((abs(box.top - box.bottom), bold))
    finally:
        layer.close()
    return [blocks[key] for key in sorted(blocks) if blocks[key].letters], artifacts


def _margins(artifacts: list[Letter], found: list[Block], height: float) -> list[Block]:
    """Return running heads and folios: artifacts above and below what is tagged."""
    if not found:
        return []
    top = min(one.top for tag in found for one in tag.letters)
    bottom = max(one.bottom for tag in found for one in tag.letters)
    pieces: list[Block] = []
    for letter in artifacts:
        last = pieces[-1].letters[-1] if pieces else None
        high = max(letter.bottom - letter.top, 4)
        if (
            last is None
            or abs((last.top + last.bottom - letter.top - letter.bottom) / 2) > 0.6 * high
            or not -high < letter.left - last.right < 1.5 * high
        ):
            pieces.append(Block(Tag(), role="running_head"))
        pieces[-1].letters.append(letter)
        pieces[-1].look.append((high, False))
    for piece in pieces:
        above = max(one.bottom for one in piece.letters) < min(top + 2, 0.2 * height)
        below = min(one.top for one in piece.letters) > max(bottom - 2, 0.8 * height)
        piece.sound = above or below
        if _FOLIO.fullmatch(piece.text.strip()):
            piece.role = "folio"
    return pieces


def _judge(found: list[Block], width: float) -> None:
    """Take away what cannot be so, and tell the roles of paragraphs that are plainly text."""
    prose = [block for block in found if block.role in {None, "list_item"}]
    sizes = [size for block in prose if len(block.letters) > 80 for size, _ in block.look]
    body = statistics.median(sizes or [size for block in found for size, _ in block.look])
    for number in {block.tag.table for block in found} - {0}:
        cells = [block for block in found if block.tag.table == number]
        sound = _is_table(cells)
        for cell in cells:
            cell.sound = sound
    for block in found:
        if not block.tag.table:
            _judge_block(block, body, width)
    heads = sum(len(block.letters) for block in found if block.role == "heading")
    if heads > 0.35 * sum(len(block.letters) for block in found):
        for block in found:
            block.role = None if block.role == "heading" else block.role
    paragraphs = [block for block in found if block.tag.role < 0]
    cut = sum(_is_cut(one, two) for one, two in pairwise(paragraphs))
    if cut > 1 and cut > 0.12 * len(paragraphs):
        raise Untrue("paragraphs of one line")


def _judge_block(block: Block, body: float, width: float) -> None:
    lines, text = block.lines, block.text
    if _is_torn(block, lines) or len(lines) > 45:
        block.sound = False
    elif block.role == "heading":
        plain = block.size < 1.08 * body and not block.bold and not text.isupper()
        long = len(block.letters) > 160 or len(lines) > 3
        if plain or long or text.endswith((".", ";", ",")) or text[:1].islower():
            block.role = None
    elif block.role == "list_item":
        if not _MARK.match(text) or _CITED.search(text) or (block.bold and len(lines) == 1):
            block.role = None
    elif block.role == "footnote" and block.size > 0.97 * body:
        block.role = None
    elif block.role is None and _is_text(block, lines, body, width):
        block.role = "text"


def _is_text(block: Block, lines: Sequence[Sequence[float]], body: float, width: float) -> bool:
    """Whether a paragraph looks like nothing but text: a single line may be anything."""
    text, wide = block.text, sorted(box[2] - box[0] for box in lines[:-1])
    if block.bold or not 0.93 * body < block.size < 1.07 * body or not wide:
        return False
    if any(begins.match(text) for begins in (_MARK, _CAPTION)) or _LEADER.search(text):
        return False
    whole = text[:1].isupper() and text.endswith((".", "?", "!", "。"))
    return wide[-1] > 0.3 * width and wide[0] > 0.6 * wide[-1] and (whole or len(lines) > 3)


def _is_torn(block: Block, lines: Sequence[Sequence[float]]) -> bool:
    """Whether a paragraph has gaps in its lines, or lines of several paragraphs."""
    if block.role != "contents_entry" and _has_gap(block):
        return True
    if len(lines) < 2:
        return False
    sizes = sorted(size for size, _ in block.look)
    if sizes[int(0.9 * len(sizes))] > 1.3 * sizes[int(0.1 * len(sizes))]:
        return True
    downs = [two[3] - one[3] for one, two in pairwise(lines) if two[3] - one[3] > 0.6 * block.size]
    return bool(downs) and max(downs) > max(1.7 * statistics.median(downs), 2.3 * block.size)


def _has_gap(block: Block) -> bool:
    """Whether letters of a line stand much further apart than its words do."""
    gaps: list[list[float]] = [[]]
    # A mark and its item may stand apart.
    for one, two in pairwise(block.letters[6 if block.role in {"list_item", "footnote"} else 0 :]):
        if abs(one.top + one.bottom - two.top - two.bottom) >= one.bottom - one.top:
            gaps.append([])
        elif two.left - one.right > 0.15 * block.size:
            gaps[-1].append(two.left - one.right)
    return any(
        max(line) > max(2.2 * block.size, 1.6 * statistics.median(line)) for line in gaps if line
    )


def _is_cut(one: Block, two: Block) -> bool:
    """Whether a paragraph goes on in the middle of a sentence of the one before."""
    first, second = one.letters[-1], two.letters[0]
    return (
        second.text.islower()
        and (first.text.isalnum() or first.text in ",-")
        and 0 < second.bottom - first.bottom < 2 * one.size
        and abs(one.size - two.size) < 0.05 * one.size
    )


def _is_table(cells: list[Block]) -> bool:
    """Whether rows lie below each other and columns beside each other; tells head rows then."""
    rows = sorted({cell.tag.top for cell in cells})
    sizes = [len(cell.letters) for cell in cells]
    if len(rows) < 2 or len({cell.tag.left for cell in cells}) < 2 or len(cells) < 4:
        return False
    # Cells of much text, or with headings and lists in them, are there for the layout.
    if max(sizes) > 900 or statistics.mean(sizes) > 150 or any(c.role != "cell" for c in cells):
        return False
    bands = []
    for row in rows:
        held = [cell.around for cell in cells if cell.tag.top == cell.tag.bottom == row]
        if held:
            bands.append((min(box[1] for box in held), max(box[3] for box in held)))
    for (top, bottom), (below, end) in pairwise(bands):
        if bottom > below + 0.25 * min(bottom - top, end - below):
            return False
    if not _stand_beside([cell for cell in cells if cell.tag.left == cell.tag.right]):
        return False
    if any(_is_stacked([cell for cell in cells if cell.tag.top == row]) for row in rows):
        return False
    full = [all(cell.tag.head for cell in cells if cell.tag.top == row) for row in rows]
    head = full.index(False) if False in full else 0
    for cell in cells:
        place = rows.index(cell.tag.top)
        cell.head = place < head if head or place > 2 else None
    return True


def _stand_beside(cells: Sequence[Block]) -> bool:
    """Whether cells of later columns are on one side of those of earlier ones."""
    number, boxes = np.array([c.tag.left for c in cells]), np.array([c.around for c in cells])
    later = number[None] > number[:, None]
    if not later.any():
        return False
    left, right = boxes[:, 0], boxes[:, 2]
    if (later & (left[None] < left[:, None])).sum() > later.sum() / 2:
        left, right = -right, -left
    over = later & (right[:, None] > left[None] + 1.5)
    turned = later & ((left + right)[:, None] > (left + right)[None])
    others, struck = (later | later.T).sum(1), (over | over.T).sum(1)
    return bool(turned.sum() <= 0.01 * later.sum() and (struck <= 0.3 * others + 0.5).all())


def _is_stacked(row: Sequence[Block]) -> bool:
    """Whether a row holds several: as many lines in each of its cells."""
    counts = {len(cell.lines) for cell in row}
    return len(row) > 2 and len(counts) == 1 and min(counts) > 2


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
