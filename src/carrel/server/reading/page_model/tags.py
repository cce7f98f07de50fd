"""What a tagged PDF says of its text, and how much of that is believed.

Writers tag well and badly: a tree may call everything a paragraph, or each line one. On each page,
tags are believed as far as they agree with what the page model is sure of there.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page_model.features import Floats, Indexes
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED, PageView

_LIKELY, _SURE = 0.5, 0.9
_LABEL = 4
"""More letters than a label has."""
_RIGHT, _WRONG = (9.8, 0.2), (0.5, 24.5)
"""How often things are told and not where they are so and where not, before a page is seen."""
_OFTEN = 0.2
UPRIGHT = 2
"""From this direction on, neighbours stand above each other."""


class Tag(NamedTuple):
    """What a file says of a text: the number of its paragraph, heading, item or cell, and its
    role's, -1 where that may be any; the number of its table on the page, 0 without one, its first
    and last row and column there, and whether it is in the head; a heading's level, or 0.
    """

    block: int = 0
    role: int = -1
    table: int = 0
    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0
    head: bool = False
    level: int = 0


TaggedText = tuple[Box, Tag]
Flags = NDArray[np.bool_]


def with_tags(view: PageView, pieces: Sequence[Line], texts: Sequence[TaggedText]) -> PageView:
    """Return the model's view of a page with what is believed of the tags of its text."""
    told = _tags(pieces, texts)
    blocks, role, tables, top, bottom, left, right, head, _ = told.T
    other = np.minimum(view.neighbours, len(pieces) - 1)
    known = (view.neighbours < len(pieces)) & (blocks > 0) & (blocks[other] > 0)
    alike, inside = blocks == blocks[other], known & (tables > 0) & (tables[other] > 0)
    table, flowing = inside & (tables == tables[other]), known & (tables + tables[other] == 0)
    shared, flags = view.shared.copy(), view.flags.copy()
    for what, some, so in (
        ("block", flowing, alike),
        ("cell", table, alike),
        ("table", inside, tables == tables[other]),
        ("row", table, (top <= bottom[other]) & (top[other] <= bottom)),
        ("column", table, (left <= right[other]) & (left[other] <= right)),
    ):
        _believe(shared[..., SHARED.index(what)], some, so)
    _believe(flags[:, FLAGS.index("head")], tables > 0, head > 0)
    # Pieces of one block have one role; all lines of a heading look like one.
    letters = np.array([0.1 + sum(map(str.isalpha, piece.text)) for piece in pieces])
    block, roles = shared[..., SHARED.index("block")], view.roles.copy()
    joined = (flowing & alike & (block > _LIKELY)).any(0)
    heading = roles[:, ROLES.index("heading")]
    for number in np.unique(blocks[joined]):
        some = joined & (blocks == number)
        heading[some] = heading[some & (letters > _LABEL)].min(initial=1)
        roles[some] = np.average(roles[some], 0, letters[some])
    roles /= roles.sum(1, keepdims=True)
    for number in np.unique(role[role >= 0]):
        # Writers call headings items, if they have numbers, and paragraphs.
        some = (blocks > 0) & ((heading <= _LIKELY) | (number == ROLES.index("heading")))
        roles[:, ROLES.index("text")] += _believe(roles[:, number], some, role == number)
    roles /= roles.sum(1, keepdims=True)
    return replace(view, roles=roles, flags=flags, shared=shared, told=told)


def _tags(pieces: Sequence[Line], texts: Sequence[TaggedText]) -> Indexes:
    """Return the tag of each piece: that of the text which covers most of it."""
    lefts, tops, rights, bottoms = np.array([box for box, _ in texts]).T
    left, top, right, bottom = np.array([piece.box for piece in pieces]).T[..., None]
    tags, middles = np.array([Tag(), *(tag for _, tag in texts)]), (tops + bottoms) / 2
    covered = np.maximum(np.minimum(rights, right) - np.maximum(lefts, left), 0)
    covered[(middles < top) | (bottom < middles)] = 0
    return tags[np.where(covered.any(1), 1 + covered.argmax(1), 0)]


def _believe(chances: Floats, some: Flags, told: Flags) -> Floats:
    """Change how likely some things are that are told or not, by how well both agree where sure.

    Return what the chances lose.
    """
    yes, no = some & (chances > _SURE), some & (chances < 1 - _SURE)
    true = np.array([(yes & told).sum(), (yes & ~told).sum()]) + _RIGHT
    false = np.array([(no & told).sum(), (no & ~told).sum()]) + _WRONG
    true, false = true / true.sum(), false / false.sum()
    # What is often wrong says nothing.
    ratios = np.where([false[0] > _OFTEN, true[1] > _OFTEN], 1, true / false)
    odds = chances * np.where(told, *ratios)
    before = chances.copy()
    chances[some] = (odds / (odds + 1 - chances))[some]
    return np.maximum(0, before - chances)
