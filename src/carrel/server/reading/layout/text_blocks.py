"""Blocks of text from the page model's view: paragraphs, headings, list items, code."""

import re
import statistics
from collections.abc import Collection, Iterable, MutableSequence, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from carrel.server.reading.page.elements import Box, Kind, Line, Region, split_when
from carrel.server.reading.page.hyphens import ends_in_hyphen, join_lines, words_of
from carrel.server.reading.page.lines import BULLETS, CAPTION, FORMULA, adjoin, one_line, usual_size
from carrel.server.reading.page_model.network import ROLES, Role
from carrel.server.reading.page_model.pieces import piece_rows
from carrel.server.reading.tables.decode import UPRIGHT, PageReading, Pair, Sets

_LIKELY = 0.5
_POSSIBLE = 0.05
"""Less likely roles of what is part of no table are none."""
_CLOSE, _WORDS = 0.02, 1.0
"""Pieces on a line that are no farther apart than this part of its height are of one block if
that is at least so likely.
"""
_HANGING = 0.2
"""Least likelihood that what stands beside a number is the beginning of its item."""
_ITEM_LINES = 2.0
"""Least distance of numbers that are none of lines, in their heights."""
_EDGE = 0.2
"""Height of the bands at a page's top and bottom with running heads, as a part of the page's."""
_MARKER = re.compile(
    rf"[{BULLETS}*–—-]\s+(?=\S)|[•◦▪‣●■](?=\w)|\(?(\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,4}})[.)]\s+(?=\S)"
    r"|\d{1,2}\s+(?=[^\W\d])"
)
_LABEL = re.compile(
    rf"[{BULLETS}*–—-]|\(?(\d{{1,2}}(\.\d{{1,2}})+\.?|(\d{{1,2}}|[A-Za-z]|[ivx]{{2,4}})[.)])"
)
_TAB = 4.0
"""Largest gap between a bullet or a number and its text, in line heights."""
_BULLET = re.compile(rf"[{BULLETS}☐☑☒]\s*(?=\w)")
_PLAIN = frozenset[Role](["text", "quote", "aside", "reference", "form_field"])
"""Roles that a bullet or a label disproves."""
_FLOWING = _PLAIN | {"list_item"}
"""Roles of running text: all lines of a block have the first line's."""
_SURE = 0.9
"""Least likelihood that two lines are one block for certain."""
_ENTRY = re.compile(r"([^\s.…])(?:\s|\.|…)+(\d{1,4}|[ivxlc]{1,7})$")
"""The end of a line of contents: a title, perhaps a leader, and a page number."""
_PAGE = re.compile(r"(?:^|[.…]\s*)(?:\d{1,4}|[ivxlc]{1,7})$")
"""The end of such a piece of text that ends an entry: another may stand beside it."""
_NAME, _SAID = re.compile(r"\W*\w.*[:：]"), re.compile(r"\w.*[^:：]$")
_VALUE = re.compile(r"[^:：]*(:\d[^:：]*)*")
"""What stands at the right of a name: a time has colons, too."""
_AMOUNT = re.compile(r"([A-Z]{3}|[$€£])?\s?[-+]?\d[\d.,]*[.,]\d\d-?\s?([A-Z]{1,3}|[$€£*])?")
"""What stands at the right of anything that costs something."""
_LINES = 2
"""Most lines of one value: with more, it is a text in the next column."""
_WIDE = 0.75
"""Least width of a text's first line, as a part of the next one's."""
_LARGER = 1.1
"""Least size of a heading that is larger than the text, as a multiple of its size."""
_TEXT = ROLES.index("text")
_HEADING = ROLES.index("heading")
_ITEM = ROLES.index("list_item")
_CONTENTS = ROLES.index("contents_entry")
_KINDS: dict[Role, Kind] = {
    "heading": "heading",
    "list_item": "list_item",
    "caption": "caption",
    "code": "code",
    "contents_entry": "list_item",
}


@dataclass(frozen=True)
class TextBlock:
    """Lines of one role that belong together, from top to bottom."""

    role: Role
    lines: tuple[Line, ...]


def text_blocks(
    page: PageReading,
    numbers: Collection[int],
    heads: Collection[int] = (),
    fields: Sequence[Box] = (),
) -> list[TextBlock]:
    """Return the blocks of some pieces of a page, of which `heads` are running heads.

    What stands in `fields` of a form is text.
    """
    chances = page.view.roles.copy()
    # Tables are found already. What may be nothing but a cell is text.
    chances[:, [ROLES.index(name) for name in ("running_head", "folio", "cell")]] = 0
    chances[:, _TEXT] += _POSSIBLE
    roles: list[int] = chances.argmax(1).tolist()
    for number in heads:
        roles[number] = ROLES.index("running_head")
    usual = usual_size(page.pieces)
    for number in numbers:
        piece = page.pieces[number]
        text = piece.text
        # Formulas, bullets, labels and headings within a line are certain.
        blank = not any(map(str.isalnum, text)) and roles[number] != _CONTENTS
        run_in = piece.run_in and piece.size < _LARGER * usual and roles[number] == _HEADING
        filled = fields and any(field.holds_centre(piece.box) for field in fields)
        if blank or run_in or filled or text.startswith(FORMULA):
            roles[number] = _TEXT
        elif ROLES[roles[number]] in _PLAIN:
            if _BULLET.match(text):
                roles[number] = _ITEM
            elif CAPTION.match(text):
                roles[number] = ROLES.index("caption")
    begins = page.view.flag("first") > _LIKELY
    pairs = page.pairs_within(range(len(page.pieces)), "block")
    stacked = [(min(p[1], p[2]), max(p[1], p[2]), p[3]) for p in pairs if p[0] >= UPRIGHT]
    for above, below, _ in reversed(stacked):
        heading = roles[above] == _HEADING
        alleged = heading or (roles[above] == _ITEM and begins[above])
        if alleged and roles[below] == _TEXT and _is_first_line(page, above, below, heading):
            roles[above] = _TEXT
    plain = {number for number in numbers if roles[number] == _TEXT}
    counted = set[int]()
    for above, below, chance in stacked:
        if chance > _SURE and roles[above] != roles[below]:
            marked = _BULLET.match(page.pieces[below].text)
            if not marked and {ROLES[roles[above]], ROLES[roles[below]]} <= _FLOWING:
                roles[below] = roles[above]
        if _count_on(page.pieces[above], page.pieces[below]):
            counted |= {above, below}
    sets = Sets(len(page.pieces))
    inside = set(numbers)
    # Labels with what stands beside them, and that with the further lines of its item.
    labelled, hanging = set[int](), set[int]()
    texts = {n for n in inside if not page.pieces[n].text.startswith(FORMULA)}
    pairs = [pair for pair in pairs if pair[1] in texts and pair[2] in texts]
    for direction, one, other, chance in pairs:
        upright = direction >= UPRIGHT
        label = direction == 0 and _is_label(page, roles, one, other, chance, one in counted)
        entries = roles[one] == roles[other] == _CONTENTS and not label
        if entries and _PAGE.search(page.pieces[min(one, other)].text):
            continue
        alike = roles[one] == roles[other] and chance > _LIKELY
        close = not upright and chance > _CLOSE and _is_near(page.boxes[one], page.boxes[other])
        further = upright and one in hanging and chance > _POSSIBLE
        further = further and _goes_on(page, hanging, one, other)
        if upright:
            apart = max(one, other) in labelled
        else:
            doubted = chance < _SURE and not label and (alike or close)
            apart = doubted and _are_columns(page, stacked, (one, other))
        if label:
            roles[one] = roles[other]
            labelled |= {one, other}
        if further:
            roles[other] = roles[one]
        if label or further:
            hanging.add(other)
        joined = (alike or close or label or further) and not apart
        if joined and not _BULLET.match(page.pieces[max(one, other)].text):
            sets.join(one, other)
    _join_values(page, pairs, sets, roles)
    blocks = list[tuple[Role, tuple[Line, ...]]]()
    for group in sets.groups(sorted(inside)):
        said = [roles[number] for number in group]
        role = ROLES[max(dict.fromkeys(said), key=said.count)]
        rows = piece_rows(page.pieces[number] for number in group)
        # A text layer says in which type code is set.
        if role == "code" and not any(piece.mono or piece.read for row in rows for piece in row):
            role = "text"
        lines = tuple(map(one_line, rows))
        # A bullet may be a piece of its own.
        if role in _PLAIN and _BULLET.match(lines[0].text):
            role = "list_item"
        salutation = role == "heading" and lines[-1].text.endswith(",")
        if salutation or (_is_unmarked(role, lines) and not plain.isdisjoint(group)):
            role = "text"
        blocks.append((role, lines))
    # Items without a mark begin at one edge.
    edges = [lines[0].box for role, lines in blocks if role == "list_item"]
    return [
        TextBlock("text", lines)
        if _is_unmarked(role, lines) and sum(map(lines[0].box.is_flush, edges)) < 2
        else TextBlock(role, lines)
        for role, lines in blocks
    ]


def _is_unmarked(role: Role, lines: Sequence[Line]) -> bool:
    text = lines[0].text
    return role == "list_item" and text[:1].isalpha() and not _MARKER.match(text)


def _join_values(
    page: PageReading, pairs: Sequence[Pair], sets: Sets, roles: MutableSequence[int]
) -> None:
    """Join names to the values at their right, as "Date:" and "1 May"."""
    texts = [piece.text for piece in page.pieces]
    beside = [pair[1:3] for pair in pairs if pair[0] == 0]
    names = {one for one, _ in beside if _NAME.fullmatch(texts[one])}
    groups = sets.groups(range(len(texts))) if names else []
    group_of = {number: group for group in groups for number in group}
    # The value may stand right below its name.
    names -= {
        one for direction, one, other, _ in pairs
        if one in names and direction == UPRIGHT and _SAID.search(texts[other])
        and page.boxes[one].is_near(page.boxes[other], page.boxes[one].height / 2)
    }  # fmt: skip
    values = set[int]()
    for one, other in beside:
        named = (
            one in names
            and len(group_of[one]) == 1
            and _VALUE.fullmatch(texts[other])
            and len(group_of[other]) <= _LINES
            and values.issuperset(number for number in group_of[other] if number < other)
        )
        priced = _AMOUNT.fullmatch(texts[other]) and any(map(str.isalpha, texts[one]))
        if (named or priced) and len(piece_rows([page.pieces[one], page.pieces[other]])) == 1:
            values.add(other)
            roles[one] = roles[other] = _TEXT if priced else roles[one]
            sets.join(one, other)


def _is_near(one: Box, other: Box) -> bool:
    """Return whether the gap between two pieces on a line is narrow for the left one."""
    return -one.shared_width(other) < _WORDS * min(one, other).height


def _is_first_line(page: PageReading, one: int, other: int, heading: bool) -> bool:
    """Return whether an alleged heading or item is the first line of a text: set like the line
    right below it, as wide, and without a marker but for a heading amid a sentence.
    """
    above, below = page.pieces[one], page.pieces[other]
    wide = above.box.width > _WIDE * below.box.width and (
        not _MARKER.match(above.text) or (heading and below.text[:1].islower())
    )
    # OCR knows no weights.
    return wide and not above.read and adjoin(above, below)


def _are_columns(
    page: PageReading, stacked: Iterable[tuple[int, int, float]], numbers: Iterable[int]
) -> bool:
    """Return whether pieces side by side are lines of columns: each begins where another does."""
    flush = set[int]()
    for above, below, chance in stacked:
        if chance > _SURE and page.boxes[above].is_flush(page.boxes[below]):
            flush |= {above, below}
    return all(number in flush and not page.pieces[number].mono for number in numbers)


def _count_on(above: Line, below: Line) -> bool:
    """Return whether a number is followed by the next one, more than a line below it."""
    if not (above.text.isdecimal() and below.text.isdecimal()):
        return False
    apart = below.box.top - above.box.top > _ITEM_LINES * above.box.height
    return apart and int(below.text) == int(above.text) + 1


def _goes_on(page: PageReading, texts: Iterable[int], one: int, other: int) -> bool:
    """Return whether a line goes on the one above it, of the `texts` beside labels."""
    above, below = page.pieces[one], page.pieces[other]
    flush = above.box.is_flush(below.box) and adjoin(above, below)
    if not flush or _MARKER.match(below.text) or page.view.flag("first")[other] > _SURE:
        return False
    column = [box for n in (*texts, other) if (box := page.boxes[n]).is_flush(above.box)]
    return not _is_deliberate_break(above, below, max(box.right for box in column))


def _is_label(
    page: PageReading, roles: Sequence[int], one: int, other: int, chance: float, counted: bool
) -> bool:
    """Return whether a piece is the bullet or number of an item or a section, set apart from it."""
    text, beside = page.pieces[one].text, page.pieces[other]
    gap = page.boxes[other].left - page.boxes[one].right
    first = page.view.flag("first")
    if gap >= _TAB * page.boxes[one].height or first[one] <= _HANGING:
        return False
    alike = roles[one] == roles[other] and roles[one] in (_HEADING, _CONTENTS)
    begins = min(chance, first[other]) > _HANGING or counted
    flowing = ROLES[roles[other]] in _FLOWING and any(map(str.isalpha, beside.text))
    number = text.isdecimal() and (alike or (begins and flowing and not beside.mono))
    # In a narrow column of its own a dash stands for nothing.
    sure = text not in "*–—-" or max(chance, first[other]) > _HANGING
    return number or bool(sure and _LABEL.fullmatch(text))


def block_region(block: TextBlock, style: "Style", height: float) -> Region:
    """Return the region of a block on a page of this height, without a heading's level."""
    kind = _KINDS.get(block.role, "paragraph")
    lines = block.lines
    box = Box.around(line.box for line in lines)
    if block.role in ("running_head", "folio"):
        if box.bottom < _EDGE * height:
            kind = "header"
        elif box.top > (1 - _EDGE) * height:
            kind = "footer"
    if kind == "code":
        return Region(kind, box, _verbatim(lines), lines=lines)
    text = style.with_breaks(lines) if kind == "paragraph" else join_lines(lines, style.words)
    if block.role == "contents_entry":
        return Region(kind, box, _ENTRY.sub(r"\1 … \2", text), lines=lines)
    if kind == "list_item":
        marker = _MARKER.match(text)
        if marker:
            item = text[marker.end() :].strip()
            return Region(kind, box, item, marker=marker[0].strip(), lines=lines)
        return Region(kind, box, text, lines=lines)
    return Region(kind, box, text, level=int(kind == "heading"), lines=lines)


@dataclass(frozen=True)
class Style:
    """The usual type size of a page in points, and the words on it."""

    size: float
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Style":
        """Return the style of some lines."""
        lines = list(lines)
        return cls(usual_size(lines), words_of([line.text for line in lines]))

    def with_breaks(self, lines: Sequence[Line]) -> str:
        """Return a paragraph's text; keep line breaks before which the next word had room."""
        right = max(line.box.right for line in lines)
        parts = split_when(lines, lambda above, line: _is_deliberate_break(above, line, right))
        return "\n".join(join_lines(part, self.words) for part in parts)


def _is_deliberate_break(above: Line, line: Line, right: float) -> bool:
    """Return whether the break of a line is deliberate: the next word would have fitted."""
    if ends_in_hyphen(above.text) or line.text[:1].islower():
        return False
    word = line.text.split(" ", 1)[0]
    letter = line.box.width / max(1, len(line.text))
    return right - above.box.right > letter * (len(word) + 2)


def _verbatim(lines: Sequence[Line]) -> str:
    """Return code with its indentation and blank lines."""
    left = min(line.box.left for line in lines)
    letter = statistics.median(line.box.width / max(1, len(line.text)) for line in lines) or 1
    text = []
    for above, line in pairwise([lines[0], *lines]):
        skipped = (line.box.top - above.box.top) / max(1.0, line.size)
        if line is not above and skipped > 2:
            text.append("")
        text.append(" " * round((line.box.left - left) / letter) + line.text)
    return "\n".join(text)


def with_list_levels(found: Sequence[Region], size: float) -> list[Region]:
    """Set the depth of list items in a row by their indentation."""
    levelled: list[Region] = []
    edges: list[float] = []
    last = 0.0
    for region in found:
        if region.kind != "list_item" or region.box.top < last:
            edges = []
        if region.kind == "list_item":
            edge = region.lines[0].box.left
            while edges and edge < edges[-1] - size / 2:
                edges.pop()
            if not edges or edge > edges[-1] + size / 2:
                edges.append(edge)
            region = replace(region, level=len(edges) - 1)
            last = region.lines[-1].box.centre[1]
        levelled.append(region)
    return levelled
