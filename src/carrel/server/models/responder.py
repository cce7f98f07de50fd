"""Who answers a completion: a stored agent, or a model asked directly."""

from dataclasses import dataclass, field
from typing import Self

from pydantic import TypeAdapter

from carrel.wire.agents import Agent, CompletionArgs
from carrel.wire.chat import ChatRequest
from carrel.wire.tools import Tool

_TOOLS: TypeAdapter[list[Tool]] = TypeAdapter(list[Tool])
_SAFE = (
    "Answer with care, respect and truth. Be as useful as you can, and leave out what is harmful,"
    " unethical or prejudiced."
)


@dataclass(frozen=True)
class Responder:
    """What stands behind an answer, beside the request."""

    model: str
    """As it was asked for; answers echo it."""
    version: int | None = None
    """The agent's version, if an agent answers."""
    instructions: str = ""
    tools: list[Tool] = field(default_factory=list)
    temperature: float | None = None
    top_p: float | None = None
    arguments: CompletionArgs = field(default_factory=CompletionArgs)
    """What else holds where the request says nothing."""

    @classmethod
    def of_agent(cls, agent: Agent) -> Self:
        """An agent, as its version has it."""
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
    def of_chat(cls, request: ChatRequest) -> Self:
        """The model that a chat names, sampled as it says."""
        return cls(
            model=request.model,
            instructions=_SAFE if request.safe_prompt else "",
            temperature=request.temperature,
            top_p=request.top_p,
        )
