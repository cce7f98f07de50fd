"""Chat requests in the other common dialect, as clients of many services send them."""

from typing import Any, Self

from pydantic import ConfigDict, ModelWrapValidatorHandler, PrivateAttr, ValidationError
from pydantic import model_validator as validator

from carrel.server.errors import ApiError, as_sent
from carrel.wire.generation.chat import ChatRequest

_CHANGING = frozenset(
    [
        *("functions", "function_call", "modalities", "audio", "web_search_options", "best_of"),
        *("echo", "suffix", "min_p", "typical_p", "top_a", "mirostat", "grammar", "guided_json"),
        *("guided_regex", "guided_choice", "guided_grammar", "bad_words", "extra_body"),
    ]
)
"""Fields of other services that an answer depends on, and that this server does not have."""
_ROUNDS = 4


class ChatBody(ChatRequest):
    """A chat request whose unknown fields are left out, unless an answer depends on them."""

    model_config = ConfigDict(title="ChatRequest")

    _ignored: list[str] = PrivateAttr(default_factory=list)

    @property
    def ignored(self) -> list[str]:
        """The unknown fields that were left out, each once."""
        return self._ignored

    @validator(mode="wrap")
    @classmethod
    def _understand(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Accept the dialect's other values, and leave out unknown fields.

        Raises:
            ApiError: 400, naming a field that would change the answer.
        """
        _name_system_messages(data)
        if isinstance(data, dict) and data.get("modalities") == ["text"]:
            data = {name: value for name, value in data.items() if name != "modalities"}
        ignored: dict[str, None] = {}
        for _ in range(_ROUNDS):
            try:
                request = handler(data)
            except ValidationError as error:
                unknown = _leave_out_unknown(error, data)
                if not unknown:
                    raise
                ignored |= dict.fromkeys(unknown)
            else:
                request._ignored = list(ignored)
                return request
        return handler(data)


def _name_system_messages(data: Any) -> None:
    messages = data.get("messages") if isinstance(data, dict) else None
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "developer":
            message["role"] = "system"


def _leave_out_unknown(error: ValidationError, data: Any) -> list[str]:
    """Remove the unknown fields and return their names."""
    names = []
    for problem in error.errors(include_url=False, include_context=False):
        if problem["type"] != "extra_forbidden":
            continue
        *way, name = as_sent(problem["loc"], data)
        holder = data
        for part in way:
            holder = holder[part]
        if isinstance(holder, dict) and name in holder:
            if way[:-1] == ["messages"] and not {"content", "tool_calls"} & holder.keys():
                # It says what the message should: its name may be a slip of the pen.
                continue
            if name in _CHANGING:
                raise ApiError(
                    400, f"This server does not support {name}. Leave it out.", param=str(name)
                )
            del holder[name]
            names.append(str(name))
    return names
