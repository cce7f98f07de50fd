"""The Responses shape: a model asked directly, for clients that speak nothing else."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from carrel.wire.base import Count, JSONObject, Request, ResponseModel, Text
from carrel.wire.generation.completions import MAX_MESSAGES, ReasoningEffort
from carrel.wire.generation.tools import MAX_TOOLS
from carrel.wire.id_lists import IdList


class _Lenient(Request):
    """A part that clients send back with fields of their own."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class TextPart(_Lenient):
    type: Literal["input_text", "output_text", "text"]
    text: Text


class RefusalPart(_Lenient):
    type: Literal["refusal"]
    refusal: Text


class ImagePart(_Lenient):
    """An image by https address or data URL."""

    type: Literal["input_image"]
    image_url: Text | None = None


class FilePart(_Lenient):
    """A document: a stored file, an address, or its content as a data URL."""

    type: Literal["input_file"]
    file_id: Text | None = None
    file_url: Text | None = None
    file_data: Text | None = None
    filename: Text | None = None


class OtherPart(_Lenient):
    """A part that the bundled server refuses."""

    type: Text


def _tag(value: Any, known: dict[str, str]) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return known.get(str(kind), "other")


_PARTS = {
    **dict.fromkeys(("input_text", "output_text", "text"), "text"),
    "refusal": "refusal",
    "input_image": "image",
    "input_file": "file",
}

Part = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[RefusalPart, Tag("refusal")]
    | Annotated[ImagePart, Tag("image")]
    | Annotated[FilePart, Tag("file")]
    | Annotated[OtherPart, Tag("other")],
    Discriminator(lambda value: _tag(value, _PARTS)),
]


class MessageItem(_Lenient):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: Text | list[Part]


class CallItem(_Lenient):
    """An earlier call of a function."""

    type: Literal["function_call"]
    call_id: Text
    name: Text
    arguments: Text


class ResultItem(_Lenient):
    """The result of a call."""

    type: Literal["function_call_output"]
    call_id: Text
    output: Text | list[Part]


class PastItem(_Lenient):
    """Earlier thoughts of a model, or a call that the service ran; without effect here."""

    type: Literal["reasoning", "mcp_call", "web_search_call"]


class OtherItem(_Lenient):
    """An item that the bundled server refuses."""

    type: Text


_ITEMS = {
    "message": "message",
    "function_call": "call",
    "function_call_output": "result",
    **dict.fromkeys(("reasoning", "mcp_call", "web_search_call"), "past"),
}


def _item_tag(value: Any) -> str:
    if isinstance(value, dict) and "role" in value and "type" not in value:
        return "message"
    return _tag(value, _ITEMS)


InputItem = Annotated[
    Annotated[MessageItem, Tag("message")]
    | Annotated[CallItem, Tag("call")]
    | Annotated[ResultItem, Tag("result")]
    | Annotated[PastItem, Tag("past")]
    | Annotated[OtherItem, Tag("other")],
    Discriminator(_item_tag),
]


class ResponseFunction(_Lenient):
    """A function that the caller runs."""

    type: Literal["function"]
    name: Annotated[Text, Field(min_length=1, max_length=256)]
    parameters: JSONObject = Field(default_factory=dict)
    description: Text | None = None
    strict: bool = False


class FileSearch(_Lenient):
    """A search in libraries, which are the vector stores of the bundled server."""

    type: Literal["file_search"]
    vector_store_ids: Annotated[list[Text], Field(min_length=1)]


class ToolNames(_Lenient):
    """The tools of an MCP server that the model may call."""

    tool_names: list[Text]


class MCPServer(_Lenient):
    """An MCP server that the bundled server's settings name; `server_label` is that name."""

    type: Literal["mcp"]
    server_label: Text
    server_url: Text | None = None
    allowed_tools: list[Text] | ToolNames | None = None
    require_approval: Literal["never", "always"] | JSONObject | None = None
    authorization: Annotated[Text | None, Field(repr=False)] = None

    @property
    def names(self) -> list[str] | None:
        """The tools that the model may call, None for all."""
        given = self.allowed_tools
        return given.tool_names if isinstance(given, ToolNames) else given


class WebSearch(_Lenient):
    """A search of the web, by a connector of the bundled server."""

    type: Literal["web_search", "web_search_preview"]


class OtherTool(_Lenient):
    """A tool that the bundled server refuses."""

    type: Text


_TOOLS = {
    **{name: name for name in ("function", "file_search", "mcp", "web_search")},
    "web_search_preview": "web_search",
}

ResponseTool = Annotated[
    Annotated[ResponseFunction, Tag("function")]
    | Annotated[FileSearch, Tag("file_search")]
    | Annotated[MCPServer, Tag("mcp")]
    | Annotated[WebSearch, Tag("web_search")]
    | Annotated[OtherTool, Tag("other")],
    Discriminator(lambda value: _tag(value, _TOOLS)),
]


class NamedChoice(_Lenient):
    """The one function that must be called."""

    type: Literal["function"]
    name: Text


class TextFormat(_Lenient):
    type: Literal["text", "json_object", "json_schema"] = "text"
    name: Text = "answer"
    schema_definition: JSONObject | None = Field(default=None, alias="schema")


class TextOptions(_Lenient):
    format: TextFormat = Field(default_factory=TextFormat)


class ReasoningOptions(_Lenient):
    effort: ReasoningEffort | None = None


class ConversationId(_Lenient):
    """A conversation by its id."""

    id: Text


class ResponseRequest(Request):
    """One answer of a model.

    The bundled server keeps an answer for 30 days, unless `store` is false. `conversation` is one
    of its own, which has the answer then. The tools are functions, `file_search`, `mcp` servers
    that its settings name, and `web_search` where they name one for it; others are refused, as is
    `prompt`. Other fields are ignored, and unknown ones are named in a `Warning` header.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    model: Annotated[Text, Field(min_length=1)]
    input: Text | Annotated[list[InputItem], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: Text | None = None
    max_output_tokens: Count | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    stream: bool = False
    text: TextOptions = Field(default_factory=TextOptions)
    tools: Annotated[list[ResponseTool], Field(max_length=MAX_TOOLS)] = Field(default_factory=list)
    tool_choice: Literal["auto", "none", "required"] | NamedChoice = "auto"
    reasoning: ReasoningOptions | None = None
    parallel_tool_calls: bool = True
    metadata: JSONObject = Field(default_factory=dict)
    previous_response_id: Text | None = None
    conversation: Text | ConversationId | None = None
    prompt: JSONObject | None = None
    background: bool = False
    store: bool = True

    @property
    def conversation_id(self) -> str | None:
        """The id of its conversation."""
        given = self.conversation
        return given.id if isinstance(given, ConversationId) else given


class OutputText(ResponseModel):
    type: str = "output_text"
    text: str
    annotations: list[JSONObject] = Field(default_factory=list)
    logprobs: list[JSONObject] = Field(default_factory=list)


class OutputMessage(ResponseModel):
    type: str = "message"
    id: str
    role: str = "assistant"
    status: Literal["in_progress", "completed", "incomplete"]
    content: list[OutputText]


class OutputCall(ResponseModel):
    """A function that the model calls."""

    type: str = "function_call"
    id: str
    call_id: str
    name: str
    arguments: str
    status: Literal["in_progress", "completed"]


class OutputMCPCall(ResponseModel):
    """A call of an MCP server's tool, which the service ran."""

    type: str = "mcp_call"
    id: str
    server_label: str
    name: str
    arguments: str
    output: str | None = None
    error: str | None = None
    status: Literal["in_progress", "completed"] = "in_progress"


class SearchAction(ResponseModel):
    type: str = "search"
    query: str


class OutputWebSearch(ResponseModel):
    """A search of the web, which the service ran."""

    type: str = "web_search_call"
    id: str
    action: SearchAction
    status: Literal["in_progress", "completed"] = "in_progress"


class ReasoningText(ResponseModel):
    type: str = "reasoning_text"
    text: str


class OutputReasoning(ResponseModel):
    """The model's thinking before its answer."""

    type: str = "reasoning"
    id: str
    summary: list[JSONObject] = Field(default_factory=list)
    content: list[ReasoningText] = Field(default_factory=list)


OutputItem = OutputReasoning | OutputMessage | OutputCall | OutputMCPCall | OutputWebSearch


class InputDetails(ResponseModel):
    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputDetails(ResponseModel):
    reasoning_tokens: int = 0


class ResponseUsage(ResponseModel):
    """Tokens of an answer."""

    input_tokens: int
    input_tokens_details: InputDetails = Field(default_factory=InputDetails)
    output_tokens: int
    output_tokens_details: OutputDetails = Field(default_factory=OutputDetails)
    total_tokens: int


class ResponseError(ResponseModel):
    code: str
    message: str


class Incomplete(ResponseModel):
    reason: str


class ModelResponse(ResponseModel):
    """An answer of a model."""

    id: str
    object: str = "response"
    created_at: int
    status: Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]
    background: bool = False
    conversation: ConversationId | None = None
    error: ResponseError | None = None
    incomplete_details: Incomplete | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    metadata: JSONObject = Field(default_factory=dict)
    model: str
    output: list[OutputItem]
    parallel_tool_calls: bool
    previous_response_id: str | None = None
    store: bool = False
    temperature: float | None = None
    text: JSONObject
    tool_choice: str | JSONObject
    tools: list[JSONObject]
    top_p: float | None = None
    truncation: str = "disabled"
    usage: ResponseUsage | None = None


class ResponseItems(IdList[JSONObject]):
    """The items that an answer was given, as they were sent."""


class ResponseQuery(Request):
    """The form of a stored answer: whole, or its events after a sequence number."""

    stream: bool = False
    starting_after: Count | None = None


class ResponseEvent(ResponseModel):
    """An event of a stream, with the fields of its type."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str
    sequence_number: int
