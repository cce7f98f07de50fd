"""Annotations: what the model is asked, and what of its answers is let through."""

import json
from typing import Any

import pytest

from carrel.server.errors import ApiError, InvalidRequest
from carrel.server.models.schemas.annotations import MAX_IMAGES, Annotator, check_formats
from carrel.server.models.schemas.formats import bound
from carrel.wire.generation.formats import ResponseFormat
from carrel.wire.ocr import OCRRequest, Page, PageImage

SCHEMA = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
FORMAT = ResponseFormat.model_validate(
    {"type": "json_schema", "json_schema": {"name": "bill", "schema": SCHEMA}}
)


class Scripted:
    """A model that answers from a list, counts four letters as a token, and remembers."""

    def __init__(self, *answers: str, context_length: int = 4096, sees: bool = False) -> None:
        self.context_length = context_length
        self.sees = sees
        self.asked: list[dict[str, Any]] = []
        self._answers = list(answers)

    async def answer(self, body: dict[str, Any]) -> str:
        self.asked.append(body)
        return self._answers.pop(0)

    async def count_tokens(self, text: str) -> int:
        return len(text) // 4


def _page(index: int, markdown: str, *images: str) -> Page:
    return Page(
        index=index,
        markdown=markdown,
        dimensions=None,
        images=[
            PageImage(
                id=id,
                top_left_x=0,
                top_left_y=0,
                bottom_right_x=9,
                bottom_right_y=9,
                image_base64=f"data:,{id}",
            )
            for id in images
        ],
    )


async def test_a_picture_that_is_badly_annotated_costs_itself_alone() -> None:
    model = Scripted("no", "still no", '{"sum": 3}')
    annotator = Annotator(model)
    (page,) = await annotator.images([_page(0, "![a](a) ![b](b)", "a", "b")], FORMAT)
    assert [image.image_annotation for image in page.images] == [None, '{"sum": 3}']
    assert annotator.failed == 1


async def test_the_model_is_asked_once_with_all_pages_prompt_and_schema() -> None:
    model = Scripted('{"sum": 3}')
    pages = [_page(0, "First page."), _page(1, "Second page.")]
    annotation = await Annotator(model).document(pages, FORMAT, "What is the sum?")
    assert annotation == ('{"sum": 3}', False)
    (body,) = model.asked
    question = body["messages"][-1]["content"]
    assert question == "What is the sum?\n\nFirst page.\n\nSecond page."
    assert body["response_format"]["json_schema"]["schema"] == bound(SCHEMA)


async def test_an_answer_that_breaks_the_schema_is_asked_for_again() -> None:
    model = Scripted('{"sum": "three"}', '{"sum": 3}')
    annotation = await Annotator(model).document([_page(0, "x")], FORMAT, None)
    assert annotation.text == '{"sum": 3}'


async def test_a_model_that_never_keeps_to_the_schema_is_an_error() -> None:
    with pytest.raises(ApiError, match="did not keep to the format") as refusal:
        await Annotator(Scripted("{", "[]")).document([_page(0, "x")], FORMAT, None)
    assert refusal.value.status == 502


@pytest.mark.parametrize(("type", "answer"), [("json_object", '{"a": 1}'), ("text", "Plain words")])
async def test_other_formats(type: str, answer: str) -> None:
    format = ResponseFormat.model_validate({"type": type})
    model = Scripted("[1]", answer) if type == "json_object" else Scripted(answer)
    assert (await Annotator(model).document([_page(0, "x")], format, None)).text == answer


async def test_a_long_document_is_condensed_to_the_context_and_every_page_is_in_it() -> None:
    model = Scripted('{"sum": 1}', context_length=2000)
    pages = [_page(index, f"Page {index} begins. " + "word " * 2000) for index in range(5)]
    pages.append(_page(5, "The last page is short."))
    annotation = await Annotator(model).document(pages, FORMAT, None)
    assert annotation.condensed
    question = model.asked[0]["messages"][-1]["content"]
    assert len(question) // 4 < 2000 - 1024
    assert len(question) // 4 > 500
    for index in range(5):
        assert f"Page {index} begins." in question
    assert "The last page is short." in question


def _illustrated(count: int) -> Page:
    """A page of pictures with a line of text before and after each."""
    names = [f"img-{number}.jpeg" for number in range(count)]
    text = "\n\n".join(f"Before {name}.\n\n![{name}]({name})\n\nAfter {name}." for name in names)
    return _page(0, text, *names)


async def test_pictures_are_annotated_from_the_text_around_them() -> None:
    answers = [json.dumps({"sum": number}) for number in range(10)]
    model = Scripted(*answers)
    (page,) = await Annotator(model).images([_illustrated(10)], FORMAT)
    assert [image.image_annotation for image in page.images] == answers
    asked = model.asked[1]["messages"][-1]["content"]
    assert "Before img-1.jpeg.\n\n\n[the picture]\n\n\nAfter img-1.jpeg." in asked


async def test_a_model_that_sees_is_shown_each_picture() -> None:
    model = Scripted('{"sum": 1}', '{"sum": 2}', sees=True)
    (page,) = await Annotator(model).images([_illustrated(2)], FORMAT)
    assert [image.image_annotation for image in page.images] == ['{"sum": 1}', '{"sum": 2}']
    text, shown = model.asked[1]["messages"][-1]["content"]
    assert "After img-0.jpeg.\n\nBefore img-1.jpeg." in text["text"]
    assert shown == {"type": "image_url", "image_url": {"url": "data:,img-1.jpeg"}}


async def test_what_the_first_pictures_show_is_told_with_the_document() -> None:
    model = Scripted(*[f'{{"sum": {number}}}' for number in range(MAX_IMAGES + 2)], '{"sum": 0}')
    annotator = Annotator(model)
    pages = await annotator.images([_illustrated(MAX_IMAGES + 2)], FORMAT)
    await annotator.document(pages, FORMAT, None)
    question = model.asked[-1]["messages"][-1]["content"]
    assert f'(img-7.jpeg)\n{{"sum": {MAX_IMAGES - 1}}}\n\nAfter' in question
    assert f'{{"sum": {MAX_IMAGES}}}' not in question


def test_a_schema_that_is_none_is_refused_by_name() -> None:
    request = OCRRequest.model_validate({
        "model": None,
        "document": {"file_id": "x"},
        "document_annotation_format": {
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"type": "nonsense"}},
        },
    })  # fmt: skip
    with pytest.raises(InvalidRequest, match="not a JSON schema") as refusal:
        check_formats(request)
    assert refusal.value.details[0].loc[:2] == ["body", "document_annotation_format"]
