"""Tools that an agent may have, and the calls a model makes of them."""

import json
from typing import Annotated, Any, Literal, get_args

from pydantic import Discriminator, Field, Tag, field_validator

from carrel.wire.base import JSONObject, Request, ResponseModel, Text

MAX_TOOLS = 1_000
"""The most tools of a request or an agent."""


class Function(Request):
    """A function's name, and its parameters as a JSON schema object."""

    name: Annotated[Text, Field(min_length=1, max_length=256)]
    parameters: JSONObject = Field(default_factory=dict)
    description: Text | None = None
    strict: bool = False


class ToolConfiguration(Request):
    """The enabled parts of a tool, and the parts that require confirmation."""

    include: list[Text] | None = None
    exclude: list[Text] | None = None
    requires_confirmation: list[Text] | None = None


class FunctionTool(Request):
    """A function that the caller runs."""

    type: Literal["function"] = "function"
    function: Function


class LibraryTool(Request):
    """Libraries that the service searches before it answers."""

    type: Literal["document_library"]
    library_ids: Annotated[list[Text], Field(min_length=1)]
    tool_configuration: ToolConfiguration | None = None


BuiltIn = Literal["web_search", "web_search_premium", "code_interpreter", "image_generation"]
_BUILT_IN = get_args(BuiltIn)


class BuiltInTool(Request):
    """A tool that a service may run; the bundled server searches the web by a connector."""

    type: BuiltIn
    tool_configuration: ToolConfiguration | None = None


class ConnectorAuthorization(Request):
    """A connector's authentication."""

    type: Literal["oauth2-token", "api-key"]
    value: Annotated[Text, Field(repr=False)]


class ConnectorTool(Request):
    """An MCP server that the service may call; `authorization` is the caller's own for it."""

    type: Literal["connector"]
    connector_id: Text
    authorization: ConnectorAuthorization | None = None
    tool_configuration: ToolConfiguration | None = None


Tool = Annotated[
    FunctionTool | LibraryTool | BuiltInTool | ConnectorTool, Field(discriminator="type")
]
"""A tool as a caller sends it."""

Tools = Annotated[list[Tool], Field(max_length=MAX_TOOLS)]


def _tool_type(value: Any) -> str:
    """Return the type of a request's tool, which a function may leave out."""
    given = value.get("type") if isinstance(value, dict) else getattr(value, "type", "")
    type = str(given or "function")
    return "built-in" if type in _BUILT_IN else type


RequestTool = Annotated[
    Annotated[FunctionTool, Tag("function")]
    | Annotated[LibraryTool, Tag("document_library")]
    | Annotated[ConnectorTool, Tag("connector")]
    | Annotated[BuiltInTool, Tag("built-in")],
    Discriminator(_tool_type),
]
"""A tool of one request for a completion."""


class NamedFunction(Request):
    """The name of one function."""

    name: Text


class NamedToolChoice(Request):
    """The one function that must be called."""

    type: Literal["function"] = "function"
    function: NamedFunction


ToolChoice = Literal["auto", "none", "any", "required"]


class FunctionCall(ResponseModel):
    """A call's function and its arguments as JSON text."""

    name: str
    arguments: str

    @field_validator("arguments", mode="before")
    @classmethod
    def _as_json_text(cls, value: object) -> object:
        if isinstance(value, dict):
            return json.dumps(value)
        return value


class ToolCall(ResponseModel):
    """One call the model asks for. `id` has nine letters and digits."""

    id: str = "null"
    type: str = "function"
    function: FunctionCall
    index: int = 0
