"""Builds the model's prompt from a request and its responder."""

from dataclasses import dataclass
from typing import Any

from carrel.server.completions.call import CompletionCall
from carrel.server.completions.messages import (
    ChatMessage,
    as_chat,
    check_order,
    last_question,
)
from carrel.server.completions.responder import Responder
from carrel.server.completions.sources import SearchLibraries, find_passages, put_before, that_fit
from carrel.server.completions.tools import FunctionTools, toolbox
from carrel.server.errors import ApiError
from carrel.server.library.search import FoundPassage
from carrel.server.models.engine import ModelSession
from carrel.server.models.formats import bounded, is_answer, schema_of
from carrel.wire.chat import ChatRequest
from carrel.wire.completions import AssistantMessage, CompletionOptions, ToolMessage
from carrel.wire.tools import FunctionTool, LibraryTool

_REASONING = (
    "Think about the problem first, step by step, and write your thoughts down as you go. Check"
    " them. Then give the answer, in the language of the question."
)
_TEMPERATURE = 0.3
_TEMPERATURE_WITH_PASSAGES = 0.1
_USUAL_CONTEXT = 8192
_PASSAGES_SHARE = 10
"""Inverse of the part of the context that passages may take: a tenth."""
_WRAPPING_TOKENS = 64
"""Tokens of the text around the passages in the prompt."""
_SEEDS = 2**32
_NOT_SUPPORTED = (
    "min_tokens",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "top_prompt_logprobs",
    "guardrails",
)


@dataclass(frozen=True)
class CompletionPlan:
    """One completion, ready to be generated `n` times."""

    body: dict[str, Any]
    """The request body for the model's address, without the seed."""
    n: int
    seed: int | None
    prompt_tokens: int | None
    """None if the address cannot count them."""
    max_tokens: int | None
    prefix: str
    """The prefix of every answer."""
    schema: dict[str, Any] | None
    """The JSON schema of every answer."""
    prompted: FunctionTools
    """The tools described in the prompt; their calls come as text."""
    passages: list[FoundPassage] | None
    """Passages found in libraries; None without a search."""

    @property
    def tokens(self) -> int:
        """Maximum context of one answer, in tokens."""
        return (self.prompt_tokens or 0) + (self.max_tokens or 0)

    def body_of(self, index: int) -> dict[str, Any]:
        """The request body of one of the `n` answers, which differ by their seed."""
        if self.seed is None:
            return self.body
        return {**self.body, "seed": (self.seed + index) % _SEEDS}

    def cut_by_model(self, used: int | None) -> bool:
        """Whether an answer cut after `used` tokens is shorter than was asked for."""
        return self.max_tokens is None or (used or self.max_tokens) < self.max_tokens

    def missing_from(self, text: str) -> str | None:
        """The format that an answer without calls lacks; None if it is as it should be."""
        if self.prompted.must_call:
            return "call"
        if self.schema is not None and not is_answer(self.prefix + text, self.schema):
            return "JSON"
        return None


def check(call: CompletionCall) -> None:
    """Runs the checks that need no model.

    Raises:
        ApiError: 400.
    """
    for name in _NOT_SUPPORTED:
        if getattr(call.options, name):
            raise ApiError(400, f"This server does not support {name}. Leave it out.", param=name)
    for tool in call.responder.tools:
        if not isinstance(tool, FunctionTool | LibraryTool):
            raise ApiError(
                400,
                f"The agent has the tool {tool.type}, which this server does not run. Remove it"
                " from the agent.",
            )
    # Clients of chats bring talks along that they had with other services.
    check_order(call.options.messages, own_ids=not isinstance(call.options, ChatRequest))


async def make_plan(
    call: CompletionCall, model: str, session: ModelSession, search: SearchLibraries
) -> CompletionPlan:
    """Builds the prompt with passages of the agent's libraries, and checks that it fits.

    Raises:
        ApiError: 400, the request asks for something impossible or too long.
    """
    responder, request = call.responder, call.options
    arguments, tools = responder.arguments, responder.tools
    box = toolbox(
        [*(tool for tool in tools if isinstance(tool, FunctionTool)), *(request.tools or ())],
        request.tool_choice or arguments.tool_choice,
    )
    native = {} if session.abilities.tools is False else box.openai()
    prompted = _prompted(box, request, session)
    schema = schema_of(request.response_format or arguments.response_format)
    max_tokens = _first(request.max_tokens, arguments.max_tokens)
    length = _Length(session, model, max_tokens, native)

    messages = _with_system(
        await as_chat(request.messages, session.abilities, call.read_document),
        responder.instructions,
        _REASONING if request.prompt_mode == "reasoning" else "",
        prompted.prompt(),
    )
    prompt_tokens = await length.check(messages)
    libraries = [tool for tool in tools if isinstance(tool, LibraryTool)]
    passages = await find_passages(libraries, last_question(request.messages), search)
    if passages:
        passages = await that_fit(passages, length.room(prompt_tokens), session.client)
        messages = put_before(messages, passages)
        prompt_tokens = await length.check(messages)

    max_tokens = length.of_answer(prompt_tokens)
    held_to = prompted.schema() if prompted.must_call else schema
    temperature = _TEMPERATURE_WITH_PASSAGES if passages else _TEMPERATURE
    return CompletionPlan(
        body={
            "model": model,
            "messages": messages,
            "temperature": _first(responder.temperature, temperature),
            **_sampling(request, responder, session),
            **({} if max_tokens is None else {"max_tokens": max_tokens}),
            **native,
            **_format(held_to, session),
        },
        n=request.n or 1,
        seed=_first(request.random_seed, arguments.random_seed),
        prompt_tokens=prompt_tokens,
        max_tokens=max_tokens,
        prefix=_prefix(request, messages),
        schema=schema,
        prompted=prompted,
        passages=passages,
    )


class _Length:
    """Fits prompt and answer into the model's context."""

    def __init__(
        self, session: ModelSession, model: str, max_tokens: int | None, tools: dict[str, Any]
    ) -> None:
        self._session = session
        self._context = session.abilities.context_of(model)
        self._max_tokens = max_tokens
        self._tools = tools

    async def check(self, messages: list[ChatMessage]) -> int | None:
        """The tokens of a prompt; None if the address cannot count them.

        Raises:
            ApiError: 400, with the numbers.
        """
        prompt = await self._session.count_prompt({"messages": messages, **self._tools})
        if prompt is None or self._context is None:
            return prompt
        if prompt + (self._max_tokens or 1) > self._context:
            asked = f" and max_tokens is {self._max_tokens}" if self._max_tokens else ""
            raise ApiError(
                400,
                f"The prompt has {prompt} tokens{asked}; the model's context is {self._context}"
                " tokens. Shorten the messages or lower max_tokens.",
                code="3051",
            )
        return prompt

    def room(self, prompt: int | None) -> int:
        """Tokens available for passages beside a prompt."""
        answer = self._max_tokens or self._session.default_max_tokens or 0
        return min(
            (self._context or _USUAL_CONTEXT) // _PASSAGES_SHARE,
            self._left(prompt) - answer - _WRAPPING_TOKENS,
        )

    def of_answer(self, prompt: int | None) -> int | None:
        """Maximum length of the answer in tokens; None leaves it to the address."""
        usual = self._session.default_max_tokens
        if self._max_tokens is not None or usual is None:
            return self._max_tokens
        return min(usual, self._left(prompt))

    def _left(self, prompt: int | None) -> int:
        return (self._context or _USUAL_CONTEXT) - (prompt or 0)


def _prompted(
    box: FunctionTools, request: CompletionOptions, session: ModelSession
) -> FunctionTools:
    """The tools to describe in the prompt: those of a model whose template has no tools."""
    if session.abilities.tools is not False:
        return FunctionTools()
    # Such a model repeats a call when it sees its result together with the tools.
    answered = isinstance(request.messages[-1], ToolMessage)
    return FunctionTools() if answered and not box.must_call else box


def _with_system(messages: list[ChatMessage], *texts: str) -> list[ChatMessage]:
    """The messages, their leading system messages merged with these texts into one."""
    rest = list(messages)
    said = [texts[0]]
    while rest and rest[0]["role"] == "system":
        said.append(rest.pop(0)["content"])
    system = "\n\n".join(text for text in [*said, *texts[1:]] if text)
    return [{"role": "system", "content": system}, *rest] if system else rest


def _sampling(
    request: CompletionOptions, responder: Responder, session: ModelSession
) -> dict[str, Any]:
    arguments = responder.arguments
    stop = _first(request.stop, arguments.stop) or []
    repetition = "repeat_penalty" if session.abilities.llama else "repetition_penalty"
    chosen = {
        "top_p": responder.top_p,
        "top_k": request.top_k,
        "frequency_penalty": _first(request.frequency_penalty, arguments.frequency_penalty),
        "presence_penalty": _first(request.presence_penalty, arguments.presence_penalty),
        repetition: request.repetition_penalty,
        "stop": [text for text in ([stop] if isinstance(stop, str) else stop) if text] or None,
    }
    usual = session.sampling if request.repetition_penalty is None else {}
    return {**usual, **{name: value for name, value in chosen.items() if value is not None}}


def _format(schema: dict[str, Any] | None, session: ModelSession) -> dict[str, Any]:
    """The response format that constrains the model to a schema."""
    if schema is None:
        return {}
    limited = bounded(schema) if session.abilities.llama else schema
    named = {"name": "answer", "schema": limited, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _prefix(request: CompletionOptions, messages: list[ChatMessage]) -> str:
    last = request.messages[-1]
    is_prefix = isinstance(last, AssistantMessage) and last.prefix
    return str(messages[-1]["content"]) if is_prefix else ""


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
