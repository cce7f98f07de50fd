"""Conversations: talks with an agent or a model that the service keeps."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from carrel.wire.base import (
    Count,
    JSONObject,
    Name,
    Request,
    ResponseModel,
    Text,
    Timestamp,
    omitted_when_none,
)
from carrel.wire.generation.agents import CompletionArgs, VersionNumber
from carrel.wire.generation.completions import MAX_MESSAGES, Usage
from carrel.wire.generation.content import Content
from carrel.wire.generation.tools import MAX_TOOLS, FunctionCall, Tools

HandoffExecution = Literal["client", "server"]


class _Entry(Request):
    """An entry of a conversation. The service sets `id` and the times.

    `metadata` is kept as the caller sends it (an extension).
    """

    object: Literal["entry"] = "entry"
    id: Text | None = None
    created_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    metadata: JSONObject | None = None


class MessageInput(_Entry):
    """A message from outside; one of the assistant with `prefix` begins the answer."""

    type: Literal["message.input"] = "message.input"
    role: Literal["user", "assistant"] = "user"
    content: Content
    prefix: bool = False


class _Output(_Entry):
    agent_id: Text | None = None
    model: Text | None = None


class MessageOutput(_Output):
    """An answer in words."""

    type: Literal["message.output"] = "message.output"
    role: Literal["assistant"] = "assistant"
    content: Content


class FunctionCallEntry(_Output):
    """A call of a function that the caller runs. `arguments` are JSON text."""

    type: Literal["function.call"] = "function.call"
    tool_call_id: Text
    name: Text
    arguments: Text | JSONObject
    confirmation_status: Literal["pending", "allowed", "denied"] | Text | None = Field(
        default=None, description="Of a call that the service runs once the caller has allowed it"
    )

    @property
    def function(self) -> FunctionCall:
        """The function and its arguments as JSON text, whichever form they came in."""
        return FunctionCall.model_validate({"name": self.name, "arguments": self.arguments})


class FunctionResultEntry(_Entry):
    """The result of a function call."""

    type: Literal["function.result"] = "function.result"
    tool_call_id: Text
    result: Text


class ToolExecutionEntry(_Output):
    """A tool that the service ran. `info` of a search has its `sources`."""

    type: Literal["tool.execution"] = "tool.execution"
    name: Text
    arguments: Text
    info: JSONObject | None = None


class HandoffEntry(_Entry):
    """An agent that handed the conversation to another."""

    type: Literal["agent.handoff"] = "agent.handoff"
    previous_agent_id: Text
    previous_agent_name: Text
    next_agent_id: Text
    next_agent_name: Text


def _kind(value: Any) -> str:
    """Return which entry it is; a message or a result may leave its type out."""
    if not isinstance(value, dict):
        return str(getattr(value, "type", ""))
    return str(value.get("type") or ("function.result" if "result" in value else "message.input"))


Entry = Annotated[
    Annotated[MessageInput, Tag("message.input")]
    | Annotated[MessageOutput, Tag("message.output")]
    | Annotated[FunctionCallEntry, Tag("function.call")]
    | Annotated[FunctionResultEntry, Tag("function.result")]
    | Annotated[ToolExecutionEntry, Tag("tool.execution")]
    | Annotated[HandoffEntry, Tag("agent.handoff")],
    Discriminator(_kind),
]

Inputs = Text | Annotated[list[Entry], Field(max_length=MAX_MESSAGES)]
"""The message: a text, or entries."""


class _Turn(Request):
    """The fields of every request for an answer.

    With `store` false nothing of it is kept. With `handoff_execution` `client` the answer ends
    with the handoff, and the next request goes to the agent that it names.
    """

    stream: bool = False
    store: bool = True
    handoff_execution: HandoffExecution = "server"
    completion_args: CompletionArgs | None = None


class ConversationStart(_Turn):
    """A new conversation, with an agent, or with a model and what it is told."""

    inputs: Inputs
    agent_id: Text | None = None
    agent_version: VersionNumber | Text | None = None
    model: Name | None = None
    instructions: Text | None = None
    tools: Tools | None = None
    guardrails: list[JSONObject] | None = None
    name: Text | None = None
    description: Text | None = None
    metadata: JSONObject | None = None

    @model_validator(mode="after")
    def _check_partner(self) -> "ConversationStart":
        if (self.agent_id is None) == (self.model is None):
            raise ValueError("a conversation is with either an agent_id or a model")
        if self.agent_id is not None and (self.instructions is not None or self.tools):
            raise ValueError("an agent has its own instructions and tools")
        return self


class ToolConfirmation(Request):
    """Whether the service may run a call that is pending."""

    tool_call_id: Text
    confirmation: Literal["allow", "deny"]


class ConversationAppend(_Turn):
    """The next input, or the decisions on pending calls."""

    inputs: Inputs = Field(default_factory=list)
    tool_confirmations: Annotated[list[ToolConfirmation], Field(max_length=MAX_TOOLS)] | None = None


class ConversationRestart(_Turn):
    """A new conversation that begins as a copy of another, up to and including an entry."""

    from_entry_id: Text
    inputs: Inputs = Field(default_factory=list)
    guardrails: list[JSONObject] | None = None
    metadata: JSONObject | None = None
    agent_version: VersionNumber | Text | None = None


class ConversationWrite(Request):
    """The entries of a conversation with an agent, as a client has them (an extension).

    Of the conversation that was read at `updated_at`, the first `keep` entries stay, and fields
    that are left out. Without `updated_at` there is none yet.
    """

    agent_id: Text
    agent_version: VersionNumber | Text | None = None
    name: Text | None = None
    metadata: JSONObject | None = None
    entries: list[Entry]
    keep: Count = 0
    updated_at: Timestamp | None = None


class Conversation(ResponseModel):
    """A conversation: with an agent, or with a model and its settings."""

    id: str
    object: Literal["conversation"] = "conversation"
    created_at: Timestamp
    updated_at: Timestamp
    name: str | None = omitted_when_none()
    description: str | None = omitted_when_none()
    metadata: dict[str, Any] | None = omitted_when_none()
    agent_id: str | None = omitted_when_none()
    agent_version: int | str | None = omitted_when_none()
    model: str | None = omitted_when_none()
    instructions: str | None = omitted_when_none()
    tools: list[dict[str, Any]] | None = omitted_when_none()
    completion_args: dict[str, Any] | None = omitted_when_none()


class ConversationUsage(Usage):
    """Tokens of an answer, of every agent that took part."""


class ConversationResponse(ResponseModel):
    """An answer: its entries."""

    object: Literal["conversation.response"] = "conversation.response"
    conversation_id: str
    outputs: list[Entry]
    usage: ConversationUsage


class ConversationHistory(ResponseModel):
    """All entries of a conversation, in order."""

    object: Literal["conversation.history"] = "conversation.history"
    conversation_id: str
    entries: list[Entry]


class ConversationMessages(ResponseModel):
    """The messages among the entries of a conversation."""

    object: Literal["conversation.messages"] = "conversation.messages"
    conversation_id: str
    messages: list[Annotated[MessageInput | MessageOutput, Field(discriminator="type")]]


class ConversationQuery(Request):
    """The query of a list of conversations; pages count from 0."""

    page: Count = 0
    page_size: Annotated[int, Field(ge=1, le=1000)] = 100
    metadata: JSONObject | None = None


EventType = Literal[
    "conversation.response.started",
    "conversation.response.done",
    "conversation.response.error",
    "message.output.delta",
    "tool.execution.started",
    "tool.execution.done",
    "agent.handoff.started",
    "agent.handoff.done",
    "function.call.delta",
]
"""The names of events."""


class ConversationEvent(ResponseModel):
    """An event of a streamed answer; `type` is its name too, and says which fields it has."""

    type: EventType
    created_at: Timestamp
    conversation_id: str | None = None
    usage: ConversationUsage | None = None
    message: str | None = None
    code: int | None = None
    id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    content: str | dict[str, Any] | None = None
    info: dict[str, Any] | None = None
    role: str | None = None
    name: str | None = None
    tool_call_id: str | None = None
    arguments: str | None = None
    confirmation_status: str | None = None
    agent_id: str | None = None
    model: str | None = None
    previous_agent_id: str | None = None
    previous_agent_name: str | None = None
    next_agent_id: str | None = None
    next_agent_name: str | None = None
