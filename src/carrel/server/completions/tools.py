"""Functions a model may call: offered natively, or in the prompt if the model's template has
no tools, with the call enforced by a JSON schema."""

import json
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from carrel.server.errors import ApiError
from carrel.server.models.schemas.formats import bound
from carrel.server.models.schemas.json_schema import fits, refuse_too_large
from carrel.wire.generation.tools import (
    Function,
    FunctionCall,
    FunctionTool,
    NamedToolChoice,
    ToolCall,
)

_ID_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class FunctionTools:
    """The functions of one completion. `must_call` allows no other answer."""

    functions: tuple[Function, ...] = ()
    must_call: bool = False

    def openai(self) -> dict[str, Any]:
        """Return the functions as an OpenAI-compatible address takes them."""
        if not self.functions:
            return {}
        offered = [FunctionTool(function=function).body() for function in self.functions]
        return {"tools": offered, "tool_choice": "required" if self.must_call else "auto"}

    def prompt(self) -> str:
        """Return the functions as instructions in the prompt."""
        if not self.functions:
            return ""
        lines = ["You can call these functions:"]
        for function in self.functions:
            about = f": {function.description}" if function.description else ""
            lines.append(f"- {function.name}{about}")
            lines.append(f"  arguments: {json.dumps(function.parameters, ensure_ascii=False)}")
        when = "Answer" if self.must_call else "If one of them is needed, answer"
        lines.append(f'{when} only with JSON: {{"name": function, "arguments": {{...}}}}')
        return "\n".join(lines)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a call."""
        calls = [
            {
                "type": "object",
                "properties": {
                    "name": {"const": function.name},
                    "arguments": bound({"type": "object", **function.parameters}),
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for function in self.functions
        ]
        return calls[0] if len(calls) == 1 else {"anyOf": calls}

    def is_call_beginning(self, text: str) -> bool:
        """Return whether a streamed text may be the beginning of a call, which is not shown."""
        return self.must_call or (bool(self.functions) and text.lstrip()[:1] in ("", "{"))

    def read_call(self, text: str) -> ToolCall | None:
        """Return the call encoded by a text, or None."""
        try:
            call = json.loads(text)
            name, arguments = call["name"], call["arguments"]
        except (ValueError, KeyError, TypeError):
            return None
        for function in self.functions:
            if function.name == name and fits(arguments, {"type": "object", **function.parameters}):
                return new_call(name, json.dumps(arguments, ensure_ascii=False))
        return None


def toolbox(
    tools: Sequence[FunctionTool],
    choice: Literal["auto", "none", "any", "required"] | NamedToolChoice,
) -> FunctionTools:
    """Return the functions allowed by a tool choice.

    Raises:
        ApiError: 400, a call is demanded that is not possible; 422, the schemas of the arguments
            are too large.
    """
    refuse_too_large(("body", "tools"), *(tool.function.parameters for tool in tools))
    # A later tool of the same name replaces an earlier one.
    functions = {tool.function.name: tool.function for tool in tools}
    if isinstance(choice, NamedToolChoice):
        name = choice.function.name
        if name not in functions:
            raise ApiError(400, f"tool_choice names {name[:80]!r}, which is not among the tools.")
        return FunctionTools((functions[name],), must_call=True)
    if choice in ("any", "required") and not functions:
        raise ApiError(400, f"tool_choice is {choice!r}, but there are no tools to call.")
    if choice == "none":
        return FunctionTools()
    return FunctionTools(tuple(functions.values()), must_call=choice in ("any", "required"))


def new_call(name: str, arguments: str, index: int = 0) -> ToolCall:
    """Return a call with an id of its own."""
    id = "".join(secrets.choice(_ID_LETTERS) for _ in range(9))
    return ToolCall(id=id, function=FunctionCall(name=name, arguments=arguments), index=index)


def calls_as_text(calls: Sequence[ToolCall]) -> str:
    """Return earlier calls as text: a small model repeats calls that it sees as JSON."""
    return "\n".join(
        f"I call {each.function.name} with {each.function.arguments}." for each in calls
    )
