"""Puts a vision model's text in the place of a page's, with the built-in reading beside it.

A word that the built-in reader also read is confirmed; the model may have invented any other.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice

from carrel.server.reading.office.markdown import parts_of_markdown
from carrel.server.reading.office.parts import Part
from carrel.server.reading.options import ReadOptions
from carrel.wire.ocr import Block, Box, Page, PageScores, VisionReading, WordScore

CONFIRMED = 0.95
"""Smallest confidence of a word that both readers read."""
UNCONFIRMED = 0.5
"""Confidence of a word that the vision model alone read: faces mark it as doubtful."""
_SAME_BLOCK = 0.5
"""Smallest part of a block's words that its counterpart of the built-in reading shares."""
_LETTERS = re.compile(r"\w+")
_MOST_WORDS = 20_000
"""No page has more words: a longer text is not compared."""


def merge(page: Page, markdown: str, model: str, options: ReadOptions) -> Page:
    """Return a page as the model reads it.

    Its blocks take their boxes from the built-in reading; pictures, dimensions, and extracted
    headers and footers are the built-in reader's.
    """
    # It loads Pillow, which a server without a vision model has no need of at its start.
    from carrel.server.reading.office.compose import compose_parts

    apart = {_key(text) for text in (page.header, page.footer) if text}
    parts = [part for part in parts_of_markdown(markdown) if not _is_apart(part, apart)]
    own = compose_parts(page.index, parts, options)
    if options.granularity is not None:
        own = _score(own, page)
    words = _words(_text_of(own))
    confirmed = len(_matches(words, _words(_text_of(page)))) / len(words) if words else 1.0
    pictures = [f"![{image.id}]({image.id})" for image in page.images]
    return page.model_copy(
        update={
            "markdown": "\n\n".join(filter(None, [own.markdown, *pictures])),
            "tables": own.tables,
            "hyperlinks": own.hyperlinks,
            "blocks": _place(own.blocks, page.blocks),
            "confidence_scores": own.confidence_scores,
            "vision": VisionReading(
                model=model, built_in_markdown=page.markdown, agreement=round(confirmed, 4)
            ),
        }
    )


def unread(page: Page, model: str, error: str) -> Page:
    """Return the built-in reading, with the reason why the model's is missing."""
    return page.model_copy(update={"vision": VisionReading(model=model, error=error)})


def _is_apart(part: Part, apart: set[str]) -> bool:
    return part.table is None and part.picture is None and _key(str(part.text)) in apart


def _key(text: str) -> str:
    return "".join(_LETTERS.findall(text)).casefold()


def _text_of(page: Page) -> str:
    """Return the text of a page, tables that stand apart included."""
    return "\n".join([page.markdown, *(table.content for table in page.tables)])


def _words(text: str) -> list[str]:
    return [word for word in (_key(part) for part in text.split()) if word]


def _matches(words: Sequence[str], known: Sequence[str]) -> dict[int, int]:
    """Return the place in `known` of each word that is also there, in the same order."""
    if max(len(words), len(known)) > _MOST_WORDS:
        return {}
    matcher = SequenceMatcher(None, words, known, autojunk=False)
    return {
        start + step: other + step
        for start, other, size in matcher.get_matching_blocks()
        for step in range(size)
    }


def _score(own: Page, page: Page) -> Page:
    """Return the model's page with a confidence for each word, from the built-in reading."""
    known = [word for words in _word_lists(page) for word in words]
    found = [word for words in _word_lists(own) for word in words]
    texts = [_key(word.text) for word in found]
    places = _matches(texts, [_key(word.text) for word in known])

    def confidence(number: int) -> float:
        if number in places:
            return max(CONFIRMED, known[places[number]].confidence)
        # A mark without letters says nothing about the page.
        return UNCONFIRMED if texts[number] else CONFIRMED

    sure = [confidence(number) for number in range(len(found))]
    scored = iter(replace(word, confidence=score) for word, score in zip(found, sure, strict=True))
    lists = [list(islice(scored, len(words))) for words in _word_lists(own)]
    scores = PageScores(
        average_page_confidence_score=statistics.fmean(sure or [1.0]),
        minimum_page_confidence_score=min(sure, default=1.0),
        word_confidence_scores=lists[0],
        text_from_file=False,
    )
    tables = [
        table.model_copy(update={"word_confidence_scores": words})
        for table, words in zip(own.tables, lists[1:], strict=True)
    ]
    return own.model_copy(update={"confidence_scores": scores, "tables": tables})


def _word_lists(page: Page) -> list[list[WordScore]]:
    """Return the scored words of a page's text, and of each table that stands apart."""
    scores = page.confidence_scores
    lists = [scores and scores.word_confidence_scores]
    return [words or [] for words in (*lists, *(t.word_confidence_scores for t in page.tables))]


def _place(blocks: list[Block] | None, known: list[Block] | None) -> list[Block] | None:
    """Return the model's blocks with the boxes of the built-in ones that hold their words."""
    if blocks is None:
        return None
    texts = [(block, set(_words(block.content))) for block in known or [] if not block.image_id]

    def place_block(block: Block) -> Block:
        words = set(_words(block.content))
        best, shared = max(
            ((other, len(words & others)) for other, others in texts),
            key=lambda one: one[1],
            default=(block, 0),
        )
        box = {name: getattr(best, name) for name in Box.model_fields}
        return block.model_copy(update=box) if shared > _SAME_BLOCK * len(words) else block

    return [*map(place_block, blocks), *(block for block in known or [] if block.image_id)]
