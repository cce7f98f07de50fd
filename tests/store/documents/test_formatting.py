"""What the open document shows."""

from carrel.store.cache.copies import DocumentSource
from carrel.store.documents import formatting as documents
from carrel.store.documents.state import DocumentState
from carrel.wire.ocr import Page, PageScores, WordScore

NOW = 1_800_000_000.0

HOSTILE = "invoice [/final]\nsecond line.pdf"

FLAT = "invoice [/final] second line.pdf"


def page(index: int, *scores: float) -> Page:
    words = [WordScore(text="w", confidence=score, start_index=0) for score in scores]
    average = sum(scores) / len(scores) if scores else 1.0
    return Page(
        index=index,
        markdown="text",
        dimensions=None,
        confidence_scores=PageScores(
            average_page_confidence_score=average,
            minimum_page_confidence_score=min(scores, default=1.0),
            word_confidence_scores=words,
        ),
    )


def test_the_open_document() -> None:
    state = DocumentState(
        source=DocumentSource("file", "f", HOSTILE),
        page_count=4,
        pages=(page(0), page(1), None, None),
        wanted=frozenset(range(4)),
        current=1,
        reading=True,
        read=2,
        read_before=1,
        started=NOW - 3,
    )
    assert documents.title(state) == f"{FLAT} · page 2 of 4"
    assert [mark.text for mark in documents.page_marks(state, 9)] == ["1", "[2]", "◐3", "○4"]
    assert [mark.text for mark in documents.page_marks(state, 1)] == ["1", "[2]", "◐3"]
    assert documents.progress(state, NOW) == "Reading page 3 of 4 · about 6 s left"
    assert documents.progress(DocumentState(), NOW) == ""
    assert documents.title(DocumentState()) == "Document"


def test_confidence() -> None:
    assert documents.score_words(page(0, 0.99, 0.97)) == "98 % sure"
    assert documents.score_words(page(0, 0.9, 0.5, 0.4)) == "Check: 2 words · 60 % sure"
    assert documents.score_words(page(0, *[1.0] * 999, 0.4)) == "Check: 1 word · 99 % sure"
    assert documents.score_words(page(0, 0.9999)) == "99 % sure"
    assert documents.score_words(page(0, 1.0)) == "99 % sure"
    assert documents.score_words(None) == ""


def test_confidence_of_a_page_that_is_the_files_own() -> None:
    own = page(0, 1.0)
    scores = own.confidence_scores
    assert scores is not None
    given = {"text_from_file": True, "order_confidence_score": 0.974}
    own = own.model_copy(update={"confidence_scores": scores.model_copy(update=given)})
    assert documents.score_words(own) == "text from the file"


def test_a_page_without_text_is_not_said_to_have_the_files() -> None:
    blank = page(0)
    scores = blank.confidence_scores
    assert scores is not None
    scores = scores.model_copy(update={"text_from_file": True})
    for text in ("", "\n", "![img-0.jpeg](img-0.jpeg)"):
        empty = blank.model_copy(update={"markdown": text, "confidence_scores": scores})
        assert documents.score_words(empty) == "no text found"
        assert documents.score_words(empty.model_copy(update={"confidence_scores": None})) != ""
    headed = blank.model_copy(
        update={"markdown": "", "header": "Lease", "confidence_scores": scores}
    )
    assert documents.score_words(headed) == "text from the file"
