"""Blocks of text from the page model's view: paragraphs, headings, list items, code."""

import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, MutableSequence, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from carrel.server.reading.layout.evidence import edge_of
from carrel.server.reading.page.elements import Box, Kind, Line, Region, split_when
from carrel.server.reading.page.hyphens import ends_in_hyphen, first_word, join_lines
from carrel.server.reading.page.lines import BULLETS, CAPTION, FORMULA, adjoin, one_line, usual_size
from carrel.server.reading.page_model.network import ROLES, Role
from carrel.server.reading.page_model.pieces import piece_rows
from carrel.server.reading.page_model.tags import UPRIGHT
from carrel.server.reading.tables.decode import PageReading, Pair, Sets

_LIKELY = 0.5
_POSSIBLE = 0.05
"""Less likely roles of what is part of no table are none."""
_TORN, _CLOSE = 0.02, 0.1
"""Least likelihoods of one block for near pieces on a line: with a lone word, and both longer."""
_HANGING = 0.2
"""Least likelihood that what stands beside a number is the beginning of its item."""
_ITEM_LINES = 2.0
"""Least distance of numbers that are none of lines, in their heights."""
_EDGE = 0.2
"""Height of the bands at a page's top and bottom with running heads, as a part of the page's."""
_MARKER = re.compile(
    rf"[{BULLETS}*–—―-]\s+(?=\S)|[•◦▪‣●■](?=\w)|\(?(\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,4}})[.)]\s+(?=\S)"
    r"|\d{1,2}\s+(?=[^\W\d])"
)
_LABEL = re.compile(
    rf"[{BULLETS}*–—―-]|\(?(\d{{1,2}}(\.\d{{1,2}})+\.?|(\d{{1,2}}|[A-Za-z]|[ivx]{{2,4}})[.)])"
)
_TAB = 4.0
"""Largest gap between a bullet or a number and its text, in line heights."""
_BULLET = re.compile(rf"[{BULLETS}☐☑☒]\s*(?=\w)")
_PLAIN = frozenset[Role](["text", "quote", "aside", "reference", "form_field"])
"""Roles that a bullet or a label disproves."""
_FLOWING = _PLAIN | {"list_item", "footnote"}
"""Roles of running text: all lines of a block have the first line's."""
_SURE, _CERTAIN = 0.9, 0.97
"""Least likelihood that two lines are one block, and that one goes on over a gutter."""
_ENTRY = re.compile(r"([^\s.…])(?:\s|\.|…)+(\d{1,4}|[ivxlc]{1,7})$")
"""The end of a line of contents: a title, perhaps a leader, and a page number."""
_PAGE = re.compile(r"(?:^|[.…]\s*)(?:\d{1,4}|[ivxlc]{1,7})$")
"""The end of such a piece of text that ends an entry: another may stand beside it."""
_SECTION = re.compile(r"(?:\d{1,2}|[IVX]{1,4})\. .{4,60}[^.:;,]")
_UNTITLED = re.compile(r"[,;]$|https?://|\bwww\.|@[\w-]+\.\w")
"""What no heading has: the end of a salutation or an item, an address of the web or of mail."""
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

    @property
    def is_unmarked(self) -> bool:
        """Whether it is an item that begins with a letter, not with a mark."""
        text = self.lines[0].text
        return self.role == "list_item" and text[:1].isalpha() and not _MARKER.match(text)


def text_blocks(
    page: PageReading,
    numbers: Collection[int],
    heads: Collection[int] = (),
    fields: Sequence[Box] = (),
) -> list[TextBlock]:
    """Return the blocks of some pieces of a page, of which `heads` are running heads.

    What stands in `fields` of a form is text.
    """
    roles = _likely_roles(page, numbers, heads, fields)
    every = page.pairs_within(range(len(page.pieces)), "block")
    stacked = [(min(one, two), max(one, two), p) for way, one, two, p in every if way >= UPRIGHT]
    # The first word of a stretched line is no line.
    torn = {
        one for way, one, other, _ in every
        if way == 0 and page.pieces[one].text.isalnum()
        and _is_near(page.boxes[one], page.boxes[other])
    }  # fmt: skip
    _find_first_lines(page, [pair for pair in stacked if pair[1] not in torn], roles)
    plain = {number for number in numbers if roles[number] == "text"}
    captions = [pair[1:] for pair in every if pair[0] == 0 and roles[pair[1]] == "caption"]
    for above, below, chance in (*captions, *stacked):
        both = roles[above], roles[below]
        if both[0] == both[1] or chance <= _SURE:
            continue
        if "heading" in both and not _FLOWING.isdisjoint(both):
            # One of the roles is wrong.
            heading = page.view.role("heading")[[above, below]].mean() > _LIKELY
            roles[above] = roles[below] = "heading" if heading else both[both[0] == "heading"]
        flowing = roles[below] in _FLOWING and roles[above] in {*_FLOWING, "caption"}
        if flowing and not _BULLET.match(page.pieces[below].text):
            roles[below] = roles[above]
    inside = {n for n in numbers if not page.pieces[n].text.startswith(FORMULA)}
    pairs = [pair for pair in every if pair[1] in inside and pair[2] in inside]
    sets = _join_pieces(page, pairs, stacked, roles)
    _join_values(page, pairs, sets, roles)
    blocks = [_block(page, roles, group, plain) for group in sets.groups(sorted(set(numbers)))]
    # Items without a mark begin at one edge.
    edges = [block.lines[0].box for block in blocks if block.role == "list_item"]
    return [
        replace(block, role="text")
        if block.is_unmarked and sum(map(block.lines[0].box.is_flush, edges)) < 2
        else block
        for block in blocks
    ]


def _likely_roles(
    page: PageReading, numbers: Iterable[int], heads: Iterable[int], fields: Sequence[Box]
) -> list[Role]:
    """Return the role of each piece: the likeliest, unless its text or place says another."""
    chances = page.view.roles.copy()
    # Tables are found already. What may be nothing but a cell is text.
    chances[:, [ROLES.index(name) for name in ("running_head", "folio", "cell")]] = 0
    chances[:, ROLES.index("text")] += _POSSIBLE
    roles = [ROLES[number] for number in chances.argmax(1).tolist()]
    larger = _LARGER * usual_size(page.pieces)
    for number in heads:
        roles[number] = "running_head"
    for number in numbers:
        piece, role = page.pieces[number], roles[number]
        # Formulas, bullets, labels and headings within a line are certain.
        blank = not any(map(str.isalnum, piece.text)) and role != "contents_entry"
        run_in = piece.run_in and role == "heading" and piece.size < larger
        filled = fields and any(field.holds_centre(piece.box) for field in fields)
        if blank or run_in or filled or piece.text.startswith(FORMULA):
            roles[number] = "text"
        elif role in _PLAIN and _BULLET.match(piece.text):
            roles[number] = "list_item"
        elif role in {*_PLAIN, "heading"} and CAPTION.match(piece.text):
            roles[number] = "caption"
    return roles


def _find_first_lines(
    page: PageReading, stacked: Sequence[tuple[int, int, float]], roles: MutableSequence[Role]
) -> None:
    """Make text of alleged headings and items that are the first lines of a text: set like the
    line right below, as wide, and without a marker.
    """
    begins, larger = page.view.flag("first") > _LIKELY, _LARGER * usual_size(page.pieces)
    for one, other, _ in reversed(stacked):
        alleged = roles[one] == "heading" or (roles[one] == "list_item" and begins[one])
        if alleged and roles[other] == "text":
            above, below = page.pieces[one], page.pieces[other]
            wide = above.box.width > _WIDE * below.box.width
            # OCR knows no weights.
            alike = wide and adjoin(above, below) and not (above.read and begins[other])
            alike = alike and (roles[one] != "heading" or above.size < larger)
            if alike and not _MARKER.match(above.text):
                roles[one] = "text"


def _join_pieces(
    page: PageReading,
    pairs: Iterable[Pair],
    stacked: Iterable[tuple[int, int, float]],
    roles: MutableSequence[Role],
) -> Sets:
    """Return the pieces in blocks. The role of a label, and of what goes on beside it, is that of
    the text at its right.
    """
    sets, boxes, texts = Sets(len(page.pieces)), page.boxes, [piece.text for piece in page.pieces]
    counted, flush = set[int](), set[int]()
    for above, below, chance in stacked:
        first, second = texts[above], texts[below]
        follows = first.isdecimal() and second.isdecimal() and int(second) == int(first) + 1
        if follows and boxes[below].top - boxes[above].top > _ITEM_LINES * boxes[above].height:
            counted |= {above, below}
        # Lines of columns begin where another does.
        if chance > _SURE and boxes[above].is_flush(boxes[below]):
            flush |= {n for n in (above, below) if not page.pieces[n].mono}
    marked = {number for number, text in enumerate(texts) if _BULLET.match(text)}
    # Labels with what stands beside them, and that with the further lines of its item.
    labelled, hanging = set[int](), set[int]()
    for direction, one, other, chance in pairs:
        joined = roles[one] == roles[other] and chance > _LIKELY
        if direction == 0 and _is_label(page, roles, one, other, chance, one in counted):
            roles[one] = roles[other]
            labelled |= {one, other}
            hanging.add(other)
            joined = True
        elif roles[one] == roles[other] == "contents_entry" and _PAGE.search(
            texts[min(one, other)]
        ):
            joined = False
        elif direction >= UPRIGHT:
            if one in hanging and chance > _POSSIBLE and _goes_on(page, hanging, one, other):
                roles[other] = roles[one]
                hanging.add(other)
                joined = True
            joined = joined and not (labelled and max(one, other) in labelled)
        elif joined or (chance > _TORN and _is_near(boxes[one], boxes[other])):
            whole = joined or chance > _CLOSE or not (" " in texts[one] and " " in texts[other])
            joined = chance >= _CERTAIN or (whole and not flush.issuperset((one, other)))
        if joined and not (marked and max(one, other) in marked):
            sets.join(one, other)
    return sets


def _block(
    page: PageReading, roles: Sequence[Role], group: Sequence[int], plain: Collection[int]
) -> TextBlock:
    """Return the block of a group of pieces with their roles; those in `plain` are text."""
    pieces, letters = [page.pieces[number] for number in group], Counter[Role]()
    for number, piece in zip(group, pieces, strict=True):
        letters[roles[number]] += len(piece.text)
    role = max(letters, key=letters.__getitem__)
    # A text layer says in which type code is set.
    if role == "code" and not any(piece.mono or piece.read for piece in pieces):
        role = "text"
    block = TextBlock(role, tuple(map(one_line, piece_rows(pieces))))
    # A line of capitals with a section's number is a heading.
    if role in _FLOWING and _SECTION.fullmatch(whole := block.lines[0].text) and whole.isupper():
        block = replace(block, role="heading" if len(block.lines) == 1 else role)
    # A bullet may be a piece of its own.
    if role in {*_PLAIN, "heading"} and _BULLET.match(block.lines[0].text):
        block = replace(block, role="list_item")
    untitled = role == "heading" and _UNTITLED.search(block.lines[-1].text)
    prose = untitled or (block.is_unmarked and any(number in plain for number in group))
    return replace(block, role="text") if prose else block


def _join_values(
    page: PageReading, pairs: Sequence[Pair], sets: Sets, roles: MutableSequence[Role]
) -> None:
    """Join names to the values at their right, as "Date:" and "1 May"."""
    texts = [piece.text for piece in page.pieces]
    beside = [pair[1:3] for pair in pairs if pair[0] == 0]
    names = {one for one, _ in beside if _NAME.fullmatch(texts[one])}
    groups = sets.groups(range(len(texts))) if names else []
    group_of = {number: group for group in groups for number in group}
    # The value may stand right below its name.
    names -= {
        one for direction, one, other, _ in (pairs if names else ())
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
            roles[one] = roles[other] = "text" if priced else roles[one]
            sets.join(one, other)


def _is_near(one: Box, other: Box) -> bool:
    """Return whether the gap between two pieces on a line is narrow for the left one."""
    return -one.shared_width(other) < min(one, other).height


def _goes_on(page: PageReading, texts: Iterable[int], one: int, other: int) -> bool:
    """Return whether a line goes on the one above it, of the `texts` beside labels."""
    above, below = page.pieces[one], page.pieces[other]
    flush = above.box.is_flush(below.box) and adjoin(above, below)
    if not flush or _MARKER.match(below.text) or page.view.flag("first")[other] > _SURE:
        return False
    column = [box for n in (*texts, other) if (box := page.boxes[n]).is_flush(above.box)]
    return not _is_deliberate_break(above, below, max(box.right for box in column))


def _is_label(
    page: PageReading, roles: Sequence[Role], one: int, other: int, chance: float, counted: bool
) -> bool:
    """Return whether a piece is the bullet or number of an item or a section, set apart from it."""
    text, beside = page.pieces[one].text, page.pieces[other]
    gap = page.boxes[other].left - page.boxes[one].right
    first = page.view.flag("first")
    if gap >= _TAB * page.boxes[one].height or first[one] <= _HANGING:
        return False
    alike = roles[one] == roles[other] and roles[one] in ("heading", "contents_entry")
    begins = min(chance, first[other]) > _HANGING or counted
    flowing = roles[other] in _FLOWING and any(map(str.isalpha, beside.text))
    number = text.isdecimal() and (alike or (begins and flowing and not beside.mono))
    # In a narrow column of its own a dash stands for nothing.
    sure = text not in "*–—―-" or max(chance, first[other]) > _HANGING
    return number or bool(sure and _LABEL.fullmatch(text))


def block_region(block: TextBlock, words: Collection[str], height: float) -> Region:
    """Return the region of a block on a page of such words and height, without a heading's level.

    Line breaks of a paragraph stay before which the next word had room.
    """
    kind = _KINDS.get(block.role, "paragraph")
    lines = block.lines
    box = Box.around(line.box for line in lines)
    if block.role == "running_head":
        kind = edge_of(box, height, _EDGE) or kind
    if kind == "code":
        return Region(kind, box, _verbatim(lines), lines=lines)
    broken = kind in ("paragraph", "list_item")
    parts = split_when(lines, lambda one, two: broken and _is_deliberate_break(one, two, box.right))
    text = "\n".join(join_lines(part, words) for part in parts)
    if block.role == "contents_entry":
        text = _ENTRY.sub(r"\1 … \2", text)
    marker = _MARKER.match(text) if block.role == "list_item" else None
    start = marker.end() if marker else 0
    level = int(kind == "heading")
    return Region(kind, box, text[start:], level, text[:start].strip(), lines=lines)


def _is_deliberate_break(above: Line, line: Line, right: float) -> bool:
    """Return whether the break of a line is deliberate: the next word would have fitted."""
    if ends_in_hyphen(above.text) or line.text[:1].islower():
        return False
    letter = line.box.width / max(1, len(line.text))
    return right - above.box.right > letter * (len(first_word(line.text)) + 2)


def _verbatim(lines: Sequence[Line]) -> str:
    """Return code with its indentation and blank lines."""
    left = min(line.box.left for line in lines)
    letter = statistics.median(line.box.width / max(1, len(line.text)) for line in lines) or 1
    text = []
    for above, line in pairwise([lines[0], *lines]):
        if line.box.top - above.box.top > 2 * max(1.0, line.size):
            text.append("")
        text.append(" " * round((line.box.left - left) / letter) + line.text)
    return "\n".join(text)


def with_list_levels(found: Sequence[Region], size: float) -> list[Region]:
    """Set the depth of list items in a row by their indentation."""
    levelled, edges, last = list[Region](), list[float](), 0.0
    for region in found:
        if region.kind != "list_item" or region.box.top < last:
            edges = []
        if region.kind == "list_item":
            edge = region.lines[0].box.left
            edges = [other for other in edges if other - size / 2 <= edge]
            if not edges or edge > edges[-1] + size / 2:
                edges.append(edge)
            region = replace(region, level=len(edges) - 1)
            last = region.lines[-1].box.centre[1]
        levelled.append(region)
    return levelled
