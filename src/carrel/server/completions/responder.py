"""The responder of a completion: a stored agent, or a model asked directly."""

from dataclasses import dataclass, field
from typing import Any, Self

from pydantic import TypeAdapter

from carrel.wire.generation.agents import Agent, CompletionArgs
from carrel.wire.generation.chat import ChatRequest
from carrel.wire.generation.tools import Tool

_TOOLS: TypeAdapter[list[Tool]] = TypeAdapter(list[Tool])
_SAFE = (
    "Answer with care, respect and truth. Be as useful as you can, and leave out what is harmful,"
    " unethical or prejudiced."
)


@dataclass(frozen=True)
class Responder:
    """The responder's settings, the defaults of the request's."""

    model: str
    """The requested name, echoed in answers."""
    version: int | None = None
    """The agent's version, None for a model."""
    instructions: str = ""
    tools: list[Tool] = field(default_factory=list)
    temperature: float | None = None
    top_p: float | None = None
    arguments: CompletionArgs = field(default_factory=CompletionArgs)
    """Defaults for fields that the request leaves out."""
    thinks_apart: bool = False
    """Whether thinking has a field of its own, beside a content that stays text."""

    @classmethod
    def of_agent(cls, agent: Agent) -> Self:
        """Return the responder of an agent's version."""
        arguments = CompletionArgs.model_validate(agent.completion_args)
        return cls(
            model=agent.model,
            version=agent.version,
            instructions=agent.instructions or "",
            tools=_TOOLS.validate_python(agent.tools),
            temperature=arguments.temperature,
            top_p=arguments.top_p,
            arguments=arguments,
        )

    @classmethod
    def of_model(
        cls,
        model: str,
        instructions: str | None,
        tools: list[dict[str, Any]],
        arguments: CompletionArgs,
    ) -> Self:
        """Return the responder of a model with the settings of a conversation."""
        return cls(
            model=model,
            instructions=instructions or "",
            tools=_TOOLS.validate_python(tools),
            temperature=arguments.temperature,
            top_p=arguments.top_p,
            arguments=arguments,
        )

    @classmethod
    def of_chat(cls, request: ChatRequest, *, knows_chunks: bool = False) -> Self:
        """Return the responder of a model that a chat request names, with its sampling.

        `knows_chunks` says that the client reads thinking as chunks where it asks for it.
        """
        asks = request.reasoning_effort not in (None, "none")
        return cls(
            model=request.model,
            instructions=_SAFE if request.safe_prompt else "",
            temperature=request.temperature,
            top_p=request.top_p,
            # Clients that know the mode know chunks of thinking.
            thinks_apart=request.prompt_mode is None and not (knows_chunks and asks),
        )
