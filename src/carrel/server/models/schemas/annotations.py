"""Structured answers about a document and its pictures, by the language model."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from carrel.server.errors import ApiError, InvalidRequest
from carrel.server.models.engine import Engine, ModelSession
from carrel.server.models.schemas import json_schema as schemas
from carrel.server.models.schemas.formats import bound, is_answer
from carrel.wire.generation.formats import ResponseFormat
from carrel.wire.ocr import OCRRequest, OCRResult, Page, PageImage

MAX_IMAGES = 8
"""Pictures whose annotations the model is shown with the document."""

_ANSWER_TOKENS = 1024
_USUAL_CONTEXT = 4096
"""The context of a model that does not report its own."""
_SPARE_TOKENS = 128
"""Tokens spared for the chat template and for what counting the parts misses."""
_ATTEMPTS = 2
"""Requests for an annotation that keeps to its schema."""
_AROUND = 600
"""Letters before and after a picture that tell what it shows."""
_DOCUMENT = (
    "You read documents and answer with what they say, nothing else."
    " What the document does not say, you leave out or empty."
)
_SEEN = (
    "You describe one picture of a document. The text that stands around it is given as well."
    " What neither shows, you leave out or empty."
)
_UNSEEN = (
    "You describe one picture of a document from the text that stands around it."
    " What the text does not say, you leave out or empty."
)

Content = str | list[dict[str, Any]]
"""The question to a model: text, or text and pictures in OpenAI's form."""


class DocumentAnnotation(NamedTuple):
    """The model's annotation of a document. `condensed` if the document did not fit the model's
    context.
    """

    text: str
    condensed: bool


class FormatNotKept(ApiError):
    """The model did not keep to the format that was asked for."""

    def __init__(self) -> None:
        super().__init__(
            502,
            "The model did not keep to the format that was asked for."
            " Simplify the schema, or use a larger model.",
        )


class AnnotationModel(Protocol):
    """The model as annotations need it."""

    @property
    def context_length(self) -> int:
        """Tokens of prompt and answer together."""

    @property
    def sees(self) -> bool:
        """Whether the model takes pictures."""

    async def answer(self, body: dict[str, Any]) -> str:
        """Return the answer to a prompt."""

    async def count_tokens(self, text: str) -> int:
        """Return the tokens of a text."""


class SessionModel:
    """The model of a session of the engine."""

    def __init__(self, session: ModelSession) -> None:
        self._session = session

    @property
    def context_length(self) -> int:
        """Context length in tokens; a modest value if the address does not report one."""
        abilities = self._session.abilities
        return abilities.context_of(abilities.default_model) or _USUAL_CONTEXT

    @property
    def sees(self) -> bool:
        """Whether the model may get pictures: yes unless the address says that it sees none."""
        return self._session.abilities.images is not False

    async def count_tokens(self, text: str) -> int:
        return await self._session.client.count_tokens(text)

    async def answer(self, body: dict[str, Any]) -> str:
        """Return the model's whole text for an OpenAI body. Cancelling frees the model."""
        prompt = "".join(_text_of(message["content"]) for message in body["messages"])
        tokens = await self.count_tokens(prompt) + _ANSWER_TOKENS + _SPARE_TOKENS
        body = {**body, "model": self._session.abilities.default_model or "default"}
        return (await self._session.answer(body, tokens))[0]


def check_formats(request: OCRRequest) -> None:
    """Refuse invalid schemas before anything is read.

    Raises:
        InvalidRequest: 422, naming the field.
    """
    for name in ("document_annotation_format", "bbox_annotation_format"):
        schema = _schema(getattr(request, name))
        if schema is None:
            continue
        loc = ("body", name, "json_schema", "schema")
        schemas.refuse_too_large(loc, schema)
        try:
            schemas.check(schema)
        except schemas.BadSchema as error:
            raise InvalidRequest(loc, f"This is not a JSON schema: {error}") from error


async def annotate(result: OCRResult, request: OCRRequest, engine: Engine, owner: str) -> OCRResult:
    """Return the result with the annotations that the request asks for.

    For pictures to be annotated, the result must have them, whether or not they were asked for.
    `owner` is the organisation that takes its turn at the model.

    Raises:
        ApiError: there is no model, or it does not keep to the format.
    """
    pages, document = result.pages, None
    if not request.document_annotation_format and not request.bbox_annotation_format:
        return result
    async with engine.session(owner=owner) as session:
        annotator = Annotator(SessionModel(session))
        if request.bbox_annotation_format:
            pages = await annotator.images(pages, request.bbox_annotation_format)
        if request.document_annotation_format:
            document = await annotator.document(
                pages, request.document_annotation_format, request.document_annotation_prompt
            )
    if not request.include_image_base64:
        pages = [_without_pictures(page) for page in pages]
    annotated = any(image.image_annotation is not None for page in pages for image in page.images)
    usage = result.usage_info.model_copy(
        update={
            "image_annotations_unseen": (annotated and not annotator.sees) or None,
            "image_annotations_failed": annotator.failed or None,
            "document_annotation_condensed": (document and document.condensed) or None,
        }
    )
    return result.model_copy(
        update={
            "pages": pages,
            "document_annotation": document and document.text,
            "usage_info": usage,
        }
    )


class Annotator:
    """Asks the model about pages that were read."""

    def __init__(self, model: AnnotationModel) -> None:
        self._model = model
        self.sees = model.sees
        self.failed = 0
        """Number of pictures whose annotations did not keep to the format."""

    async def document(
        self, pages: Sequence[Page], format: ResponseFormat, prompt: str | None
    ) -> DocumentAnnotation:
        """Return the model's annotation of all pages: JSON in the format, or text.

        Annotations of the first few pictures are part of the document. A document longer than the
        model's context is condensed to the beginning of every page.

        Raises:
            ApiError: 502 if the model does not keep to the format.
        """
        question = prompt or "Extract what is asked for from this document."
        texts = _with_annotations(pages)
        text = await self._condense(texts, question, format)
        answer = await self._ask(_DOCUMENT, f"{question}\n\n{text}", format)
        return DocumentAnnotation(answer, text != "\n\n".join(texts))

    async def images(self, pages: Sequence[Page], format: ResponseFormat) -> list[Page]:
        """Return the pages with their pictures annotated; `failed` counts the exceptions.

        A model that sees is shown the picture; another one is told what stands around it.
        """
        return [
            page.model_copy(
                update={
                    "images": [
                        image.model_copy(
                            update={"image_annotation": await self._image(page, image, format)}
                        )
                        for image in page.images
                    ]
                }
            )
            for page in pages
        ]

    async def _image(self, page: Page, image: PageImage, format: ResponseFormat) -> str | None:
        """Describe a picture by the model; return None where it does not keep to the format."""
        before, _, after = page.markdown.partition(_placeholder(image))
        around = f"{before[-_AROUND:]}\n[the picture]\n{after[:_AROUND]}"
        asked: tuple[str, Content] = (_UNSEEN, around)
        if self.sees and image.image_base64 is not None:
            picture = {"type": "image_url", "image_url": {"url": image.image_base64}}
            asked = (_SEEN, [{"type": "text", "text": around}, picture])
        try:
            return await self._ask(*asked, format)
        except FormatNotKept:
            self.failed += 1
            return None

    async def _condense(self, texts: list[str], question: str, format: ResponseFormat) -> str:
        whole = "\n\n".join(texts)
        used = await self._model.count_tokens(
            _DOCUMENT + question + json.dumps(_schema(format) or {})
        )
        room = self._model.context_length - _ANSWER_TOKENS - _SPARE_TOKENS - used
        if room <= 0:
            raise ApiError(400, "The prompt and the schema leave no room for the document.")
        for _ in range(8):
            tokens = await self._model.count_tokens(whole)
            if tokens <= room:
                return whole
            texts = _shorten(texts, 0.95 * room / tokens)
            whole = "\n\n".join(texts)
        raise ApiError(400, "This document is too long to annotate. Ask for fewer pages.")

    async def _ask(self, system: str, user: Content, format: ResponseFormat) -> str:
        body: dict[str, Any] = {
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": _ANSWER_TOKENS,
        }
        if format.json_schema is not None:
            named = {"name": format.json_schema.name, "schema": bound(_schema(format))}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif format.type == "json_object":
            body["response_format"] = {"type": "json_object"}
        schema = {"type": "object"} if format.json_schema is None else _schema(format)
        for attempt in range(_ATTEMPTS):
            text = await self._model.answer({**body, "seed": attempt})
            if format.type == "text" or is_answer(text, schema or {}):
                return text
            body["temperature"] = 0.5
        raise FormatNotKept


def _text_of(content: Content) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _placeholder(image: PageImage) -> str:
    return f"![{image.id}]({image.id})"


def _with_annotations(pages: Sequence[Page]) -> list[str]:
    """Return the pages' Markdown, with the annotations of the first few pictures below them."""
    texts, left = [], MAX_IMAGES
    for page in pages:
        text = page.markdown
        for image in page.images:
            if image.image_annotation is not None and left:
                left -= 1
                place = _placeholder(image)
                text = text.replace(place, f"{place}\n{image.image_annotation}", 1)
        texts.append(text)
    return texts


def _without_pictures(page: Page) -> Page:
    images = [image.model_copy(update={"image_base64": None}) for image in page.images]
    return page.model_copy(update={"images": images})


def _schema(format: ResponseFormat | None) -> dict[str, Any] | None:
    if format is None or format.json_schema is None:
        return None
    return format.json_schema.schema_definition


def _shorten(texts: list[str], part: float) -> list[str]:
    """Return the beginnings of all texts, `part` of them together; keep short texts whole."""
    room = int(sum(map(len, texts)) * part)
    limit = room
    for count, length in zip(range(len(texts), 0, -1), sorted(map(len, texts)), strict=True):
        if length > room // count:
            limit = room // count
            break
        room -= length
    return [text[:limit] for text in texts]
