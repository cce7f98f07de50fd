"""The OCR request: pages in every spelling, documents in every variant."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from carrel.wire.generation.content import DocumentURLChunk, FileChunk, ImageURLChunk
from carrel.wire.ocr import OCRRequest, parse_pages

spans = st.tuples(st.integers(0, 10_000), st.integers(0, 500)).map(lambda s: (s[0], s[0] + s[1]))


def _text(span: tuple[int, int]) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]}-{span[1]}"


@given(st.lists(spans, min_size=1, max_size=8))
def test_text_and_list_of_the_same_pages_mean_the_same(chosen: list[tuple[int, int]]) -> None:
    expected = [range(first, last + 1) for first, last in chosen]
    mixed: list[int | str] = [a if a == b else f"{a}-{b}" for a, b in chosen]
    assert parse_pages(", ".join(map(_text, chosen))) == expected
    assert parse_pages(mixed) == expected


def test_one_number_is_one_page_and_nothing_is_all() -> None:
    assert parse_pages(3) == [range(3, 4)]
    assert parse_pages(None) is None


@pytest.mark.parametrize(
    "pages", ["", "a", "-1", "4-2", "1,,2", "1-2-3", "0.5", [1, "x"], "9" * 40]
)
def test_what_is_no_page_is_refused_as_wrong_input(pages: Any) -> None:
    with pytest.raises(ValidationError):
        OCRRequest(model="m", document=FileChunk(file_id="f"), pages=pages)


@pytest.mark.parametrize(
    ("document", "variant"),
    [
        ({"file_id": "f"}, FileChunk),
        ({"type": "file", "file_id": "f"}, FileChunk),
        ({"document_url": "https://example.com/a.pdf"}, DocumentURLChunk),
        ({"type": "document_url", "document_url": "https://example.com/a.pdf"}, DocumentURLChunk),
        ({"image_url": {"url": "https://example.com/a.png", "detail": "low"}}, ImageURLChunk),
        ({"type": "image_url", "image_url": "https://example.com/a.png"}, ImageURLChunk),
    ],
)
def test_every_document_variant_with_and_without_its_type(
    document: dict[str, Any], variant: type
) -> None:
    request = OCRRequest.model_validate({"model": None, "document": document})
    assert isinstance(request.document, variant)


@pytest.mark.parametrize("document", [{}, {"type": "file"}, {"type": "nothing", "file_id": "f"}, 3])
def test_a_document_of_no_known_variant_is_refused(document: Any) -> None:
    with pytest.raises(ValidationError):
        OCRRequest.model_validate({"model": "m", "document": document})


def test_model_must_be_present_though_it_may_be_null() -> None:
    with pytest.raises(ValidationError) as caught:
        OCRRequest.model_validate({"document": {"file_id": "f"}})
    assert caught.value.errors()[0]["loc"] == ("model",)


def test_an_annotation_prompt_needs_its_format() -> None:
    with pytest.raises(ValidationError, match="document_annotation_format"):
        OCRRequest(
            model="m", document=FileChunk(file_id="f"), document_annotation_prompt="Who signed?"
        )
