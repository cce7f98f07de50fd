"""Completions: the request to an agent, the whole answer, and the chunks of a stream."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from carrel.wire.base import Count, JSONObject, Request, ResponseModel, Text, omitted_when_none
from carrel.wire.generation.content import Content
from carrel.wire.generation.formats import ResponseFormat
from carrel.wire.generation.tools import (
    MAX_TOOLS,
    NamedToolChoice,
    RequestTool,
    ToolCall,
    ToolChoice,
)
from carrel.wire.libraries import PageBox, Span

_SOURCES = "The passages of libraries that the model was given, empty if none fit; an extension"
_REASONING = "What the model thought before it answered, in answers of chats"
_AGENT_VERSION = "The version that answers, where an agent does; an extension"

Stage = Literal[
    "loading", "documents", "searching", "found", "calling", "called", "queued", "asking", "reading"
]
"""Loading the model, reading attached documents, searching libraries, having searched them, calling
a connector's tool, having called it, waiting for other answers, waiting for a model that tells
nothing, reading the prompt."""

FinishReason = Literal["stop", "length", "model_length", "error", "tool_calls"]


class SystemMessage(Request):
    role: Literal["system"] = "system"
    content: Content


class UserMessage(Request):
    role: Literal["user"] = "user"
    content: Content | None = None


class AssistantMessage(Request):
    """An earlier answer; with `prefix` true, the beginning of the one to come."""

    role: Literal["assistant"] = "assistant"
    content: Content | None = None
    tool_calls: list[ToolCall] | None = None
    prefix: bool = False
    sources: list[JSONObject] | None = Field(
        default=None, description="As an answer came with them (an extension); without effect"
    )
    reasoning_content: Text | None = Field(
        default=None, description="As an answer came with it; without effect"
    )


class ToolMessage(Request):
    """The result of a tool call."""

    role: Literal["tool"] = "tool"
    content: Content | None = None
    tool_call_id: Text | None = None
    name: Text | None = None


Message = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]


class Prediction(Request):
    """Expected text of the answer; a hint that may speed it up."""

    type: Literal["content"] = "content"
    content: Text = ""


ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
"""The effort of thinking before the answer."""

Penalty = Annotated[float, Field(ge=-2, le=2)]


MAX_MESSAGES = 10_000
"""The most messages of a request: more than the longest context has room for."""


StopTexts = Annotated[list[Text], Field(max_length=1_000)]


class CompletionOptions(Request):
    """The options of a completion, by an agent or a model.

    Of the bundled server: with `prompt_mode` `reasoning` the model is told to think first, and a
    model at an address gets `reasoning_effort` `high`. Of each document in a message, the first
    `document_page_limit` pages are read. `metadata`, `prompt_cache_key`, `document_image_limit` and
    `service_tier` are hints without effect. `prediction` and `reasoning_effort` are passed to a
    model at an address, and named in a `Warning` header by the built-in model. `min_tokens`,
    `logprobs` and `top_logprobs` are passed to a model at an address, and refused by the built-in
    model. `guardrails` and the `prompt_logprobs` options are refused.
    """

    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    max_tokens: Count | None = None
    min_tokens: Count | None = None
    n: Annotated[int, Field(ge=1, le=128)] | None = None
    stop: Text | StopTexts | None = None
    stream: bool = False
    random_seed: Count | None = None
    response_format: ResponseFormat | None = None
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    repetition_penalty: Annotated[float, Field(gt=0, le=2)] | None = None
    top_k: Count | None = None
    parallel_tool_calls: bool = True
    prediction: Prediction | None = None
    prompt_mode: Literal["reasoning"] | None = None
    reasoning_effort: ReasoningEffort | None = None
    tools: Annotated[list[RequestTool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: ToolChoice | NamedToolChoice | None = None
    metadata: JSONObject | None = None
    prompt_cache_key: Text | None = None
    document_image_limit: Count | None = None
    document_page_limit: Count | None = None
    logprobs: bool | None = None
    top_logprobs: Count | None = None
    prompt_logprobs: bool | None = None
    top_prompt_logprobs: Count | None = None
    guardrails: list[JSONObject] | None = None
    service_tier: Literal["auto", "standard_only"] | None = None


class CompletionRequest(CompletionOptions):
    """One completion by a stored agent. Model and sampling come from the agent."""

    agent_id: Text


class Passage(ResponseModel):
    """A passage of a library document that was given to the model (an extension).

    `index` counts from 1 and is the number the passage was given under; `page` counts from 0.
    """

    index: int
    library_id: str
    document_id: str
    document_name: str
    page: int | None = None
    snippet: str
    matches: list[Span] = Field(default_factory=list)
    score: float | None = None
    box: PageBox | None = None


class CompletionMessage(ResponseModel):
    """The answer of one choice. `prefix` is set when an agent answers; `sources` is an
    extension of the bundled server."""

    role: str = "assistant"
    content: str | list[dict[str, Any]] | None = ""
    reasoning_content: str | None = omitted_when_none(_REASONING)
    tool_calls: list[ToolCall] | None = None
    prefix: bool | None = omitted_when_none()
    sources: list[Passage] | None = omitted_when_none(_SOURCES)


class Choice(ResponseModel):
    index: int
    message: CompletionMessage
    finish_reason: FinishReason | str
    logprobs: dict[str, Any] | None = omitted_when_none()


Tokens = Annotated[int, BeforeValidator(lambda value: 0 if value is None else value)]
"""A number of tokens, which some services answer as null."""


class Usage(ResponseModel):
    """Tokens of a completion. Prompt tokens count once, whatever `n`."""

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    total_tokens: Tokens = 0


class Completion(ResponseModel):
    """A whole answer. `agent_version`, where an agent answers, is an extension of the bundled
    server."""

    id: str
    object: str = "chat.completion"
    model: str
    created: int
    usage: Usage
    choices: list[Choice]
    agent_version: int | None = omitted_when_none(_AGENT_VERSION)


class Delta(ResponseModel):
    """The increment of one chunk.

    `sources` (an extension) are the passages that the chunk cites; in the last chunk, all.
    """

    role: str | None = omitted_when_none()
    content: str | list[dict[str, Any]] | None = omitted_when_none()
    reasoning_content: str | None = omitted_when_none(_REASONING)
    tool_calls: list[ToolCall] | None = omitted_when_none()
    sources: list[Passage] | None = omitted_when_none(_SOURCES)


class ChunkChoice(ResponseModel):
    index: int
    delta: Delta
    finish_reason: FinishReason | str | None = None
    logprobs: dict[str, Any] | None = omitted_when_none()


class Progress(ResponseModel):
    """The step an answer is at: a stream's event of the name `progress`.

    An extension, sent only to a request with the header `Prefer: progress`. `place` is the place
    in the queue for the model, from 1; `done` and `total` are tokens of the prompt; `query` is
    searched in the libraries, `sources` are the passages found; `tool` is called with `arguments`,
    which are JSON text, and answers with `result`.
    """

    stage: Stage | str
    place: int | None = omitted_when_none()
    done: int | None = omitted_when_none()
    total: int | None = omitted_when_none()
    query: str | None = omitted_when_none()
    sources: list[Passage] | None = omitted_when_none()
    tool: str | None = omitted_when_none()
    arguments: str | None = omitted_when_none()
    result: str | None = omitted_when_none()


class CompletionChunk(ResponseModel):
    """One event of a stream; the last carries `finish_reason` and `usage`."""

    id: str
    object: str = "chat.completion.chunk"
    created: int | None = omitted_when_none()
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = omitted_when_none()
    agent_version: int | None = omitted_when_none(_AGENT_VERSION)
