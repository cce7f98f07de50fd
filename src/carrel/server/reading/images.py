"""Removes images beyond a request's limit from pages."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

from carrel.wire.ocr import Page, PageImage, PageScores

_APART = "\n\n"


def with_fewer_images(pages: list[Page], limit: int | None) -> list[Page]:
    """Return the pages with the first `limit` images of them all, or None keeps every one."""
    if limit is None:
        return pages
    before = accumulate((len(page.images) for page in pages), initial=0)
    return [
        _drop_images(page, page.images[max(0, limit - seen) :])
        for page, seen in zip(pages, before, strict=False)
    ]


def _drop_images(page: Page, left_out: Iterable[PageImage]) -> Page:
    names = {image.id for image in left_out}
    scores, markdown = page.confidence_scores, page.markdown
    for name in names:
        shown = f"![{name}]({name})"
        start = markdown.index(shown)
        end = start + len(shown)
        if markdown.startswith(_APART, end):
            end += len(_APART)
        else:
            start = len(markdown[:start].removesuffix(_APART))
        markdown = markdown[:start] + markdown[end:]
        scores = _move_scores(scores, end, end - start)
    return page.model_copy(
        update={
            "markdown": markdown,
            "images": [image for image in page.images if image.id not in names],
            "blocks": page.blocks and [b for b in page.blocks if b.image_id not in names],
            "confidence_scores": scores,
        }
    )


def _move_scores(scores: PageScores | None, place: int, by: int) -> PageScores | None:
    """Move the words from `place` on `by` characters towards the start in the scores."""
    if scores is None or scores.word_confidence_scores is None:
        return scores
    words = [
        replace(word, start_index=word.start_index - by) if word.start_index >= place else word
        for word in scores.word_confidence_scores
    ]
    return scores.model_copy(update={"word_confidence_scores": words})
