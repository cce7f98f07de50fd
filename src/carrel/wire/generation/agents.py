"""Agents (beta): numbered versions, the active one, aliases."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from carrel.wire.base import (
    MAX_INT,
    Count,
    JSONObject,
    Name,
    Request,
    ResponseModel,
    Stored,
    Text,
    Timestamp,
)
from carrel.wire.generation.completions import Penalty, Prediction, ReasoningEffort, StopTexts
from carrel.wire.generation.formats import ResponseFormat
from carrel.wire.generation.tools import ToolChoice, Tools

ALIAS_PATTERN = r"^[a-z]([a-z0-9_-]*[a-z0-9])?$"

Alias = Annotated[str, Field(min_length=1, max_length=64, pattern=ALIAS_PATTERN)]
VersionNumber = Annotated[int, Field(ge=0, le=MAX_INT)]


class CompletionArgs(Request):
    """An agent's sampling parameters, unless the request sets its own."""

    stop: Text | StopTexts | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    temperature: Annotated[float, Field(ge=0, le=1)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Count | None = None
    random_seed: Count | None = None
    prediction: Prediction | None = None
    response_format: ResponseFormat | None = None
    tool_choice: ToolChoice = "auto"
    reasoning_effort: ReasoningEffort | None = None


class _AgentSettings(Stored):
    description: Text | None = None
    instructions: Text | None = None
    tools: Tools | None = None
    handoffs: Annotated[list[Text], Field(min_length=1, max_length=1000)] | None = None
    metadata: JSONObject | None = None
    completion_args: CompletionArgs | None = None
    guardrails: list[JSONObject] | None = None
    version_message: Annotated[Text, Field(max_length=500)] | None = None


class AgentCreate(_AgentSettings):
    """A new agent: version 0."""

    model: Name
    name: Name


class AgentUpdate(_AgentSettings):
    """A new version of an agent. Omitted fields stay; null clears an optional one."""

    keeps_null = _AgentSettings.model_fields.keys() - {"version_message"}

    model: Name | None = None
    name: Name | None = None
    deployment_chat: bool | None = None


class Agent(ResponseModel):
    """An agent as its answered version has it."""

    id: str
    object: str = "agent"
    name: str
    model: str
    description: str | None = None
    instructions: str | None = None
    # Kept unparsed: a newer service may have tools and arguments unknown here.
    tools: list[dict[str, Any]] = Field(default_factory=list)
    handoffs: list[str] | None = None
    metadata: dict[str, Any] | None = None
    completion_args: dict[str, Any] = Field(default_factory=dict)
    guardrails: list[dict[str, Any]] | None = None
    deployment_chat: bool = False
    source: str = "api"
    version: int
    versions: list[int]
    version_message: str | None = None
    owner_id: str | None = None
    created_at: Timestamp
    updated_at: Timestamp

    @model_validator(mode="before")
    @classmethod
    def _drop_null_lists(cls, data: Any) -> Any:
        if isinstance(data, dict):
            never_null = ("tools", "completion_args")
            return {k: v for k, v in data.items() if v is not None or k not in never_null}
        return data


class AgentPage(ResponseModel):
    """A page of agents and the token of the next, null on the last."""

    object: Literal["list"] = "list"
    data: list[Agent]
    next_page_token: str | None = None


class AgentFilter(Request):
    """A filter of the list of agents."""

    page_size: Annotated[int, Field(ge=1, le=1000)] = 20
    deployment_chat: bool | None = None
    sources: list[Text] | None = None
    name: Text | None = None
    search: Text | None = None
    id: Text | None = None
    metadata: JSONObject | None = None


class AgentQuery(AgentFilter):
    """A page of the agent list, by number from 0."""

    page: Count = 0


class AgentPageQuery(AgentFilter):
    """A page of the agent list, by token."""

    page_token: Text | None = None


class VersionsQuery(Request):
    """A page of an agent's versions."""

    page: Count = 0
    page_size: Annotated[int, Field(ge=1, le=100)] = 20


class VersionSwitch(Request):
    """The version to make active; sent in the query or the body."""

    version: VersionNumber


class AliasRequest(Request):
    """An alias to point at a version."""

    alias: Alias
    version: VersionNumber


class AgentAlias(ResponseModel):
    """A name that points at one version of an agent."""

    alias: str
    version: int
    created_at: Timestamp
    updated_at: Timestamp
