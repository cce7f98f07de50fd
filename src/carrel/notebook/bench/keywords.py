"""The keywords of all calls that create or change an agent."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, get_type_hints

from pydantic import BaseModel

from carrel.wire.libraries import Library

F = TypeVar("F", bound=Callable[..., Any])


class _Unchanged:
    """Marks an omitted field in a signature."""

    def __repr__(self) -> str:
        return "unchanged"


UNCHANGED = _Unchanged()


class AgentKeywords(TypedDict, total=False):
    """Fields of an agent; an omitted one keeps its value, or a new agent's default.

    Attributes:
        model: the name of a model of the service; its first by default.
        description: a sentence for people who choose an agent.
        instructions: the system prompt.
        temperature: 0 to 1; None is the model's own.
        max_tokens: the longest answer in tokens; None is the model's own.
        libraries: the libraries to search, by name or id.
        tool_choice: `auto`, `none`, `any` or `required`: whether it must call a function.
        response_format: `text`, `json_object`, a JSON schema or a pydantic model of its answers.
        message: describes the version.
    """

    model: str
    description: str
    instructions: str
    temperature: float | None
    max_tokens: int | None
    libraries: Sequence[str | Library]
    tool_choice: Literal["auto", "none", "any", "required"] | None
    response_format: str | Mapping[str, Any] | type[BaseModel] | None
    message: str


def spell(method: F) -> F:
    """Put the keywords of AgentKeywords into a method's signature and docstring.

    IPython completes from the signature, not from an unpacked TypedDict.
    """
    signature = inspect.signature(method)
    parameters = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=UNCHANGED, annotation=hint)
        for name, hint in get_type_hints(AgentKeywords).items()
    ]
    method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    method.__doc__ = "\n\n".join(
        map(inspect.cleandoc, (method.__doc__ or "", AgentKeywords.__doc__ or ""))
    )
    return method
