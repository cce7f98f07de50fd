"""Builds the model's prompt from a request and its responder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from carrel.server.completions.call import CompletionCall
from carrel.server.completions.connector_calls import (
    ConnectorCalls,
    asks_first,
    connector_of,
    connectors_among,
)
from carrel.server.completions.follow_ups import find_for_last_question
from carrel.server.completions.library_search import LIBRARY_FUNCTION, LibrarySearch
from carrel.server.completions.messages import (
    ChatMessage,
    as_chat,
    check_order,
    last_question,
    letters_of,
)
from carrel.server.completions.own_tools import OwnTool, OwnTools
from carrel.server.completions.responder import Responder
from carrel.server.completions.sources import (
    LibraryQuery,
    Room,
    SearchLibraries,
    library_ids,
    put_before,
)
from carrel.server.completions.tools import FunctionTools, toolbox
from carrel.server.connectors.service import Connectors
from carrel.server.errors import ApiError
from carrel.server.library.search import FoundPassage
from carrel.server.models.embedded import SLOTS
from carrel.server.models.engine import ModelSession
from carrel.server.models.schemas.formats import bound, is_answer, schema_of
from carrel.server.models.schemas.json_schema import refuse_too_large
from carrel.server.models.stages import Tell, tell_nobody
from carrel.wire.generation.chat import ChatRequest
from carrel.wire.generation.completions import (
    AssistantMessage,
    CompletionOptions,
    Prediction,
    Progress,
    ToolMessage,
)
from carrel.wire.generation.formats import ResponseFormat
from carrel.wire.generation.tools import FunctionTool

_REASONING = (
    "Think about the problem first, step by step, and write your thoughts down as you go. Check"
    " them. Then give the answer, in the language of the question."
)
_TEMPERATURE = 0.3
_TEMPERATURE_WITH_PASSAGES = 0.1
# The context of an address that does not report its own.
_USUAL_CONTEXT = 8192
_PASSAGES_SHARE = 10
"""Inverse of the part of the context that passages may take: a tenth."""
_RESULTS_SHARE = 3
"""Inverse of the part that results of functions may take which the server runs: a third."""
_WRAPPING_TOKENS = 96
"""Tokens of the text around the passages in the prompt."""
_TEMPLATE_TOKENS = 96
"""Upper bound of the tokens that a model's template adds to a message."""
_MOST_LETTERS = 32
"""Upper bound of a text's letters per token, on average."""
_SEEDS = 2**32
"""Seeds of llama.cpp have 32 bits."""
_NOT_SUPPORTED = ("prompt_logprobs", "top_prompt_logprobs", "guardrails")
_FORWARDED = ("min_tokens", "logprobs", "top_logprobs")
"""Fields passed on to a model at an address; the built-in model does not support them."""
_FORWARDED_HINTS = ("prediction", "logit_bias", "verbosity", "reasoning_effort")
"""Parameters that may be ignored without harm to the answer."""


@dataclass(frozen=True)
class CompletionPlan:
    """One completion, ready to be generated `n` times."""

    body: dict[str, Any]
    """The request body for the model's address, without the seed."""
    n: int
    seed: int | None
    prompt_tokens: int | None
    """None if the address cannot count them, or they are few."""
    max_tokens: int | None
    prefix: str
    """The prefix of every answer."""
    schema: dict[str, Any] | None
    """The JSON schema of every answer."""
    prompted: FunctionTools
    """The tools described in the prompt; their calls come as text."""
    passages: list[FoundPassage] | None
    """Passages found in libraries before the model is asked; None without a search."""
    query: str
    """The words that they were found by."""
    own: OwnTools | None
    """The functions that the server runs when the model calls them."""
    parallel: bool
    """Whether the model may call several functions at once."""

    @property
    def cites(self) -> bool:
        """Return whether markers in the text are citations. JSON has no place for them."""
        return self.schema is None and (self.passages is not None or self.searches)

    @property
    def searches(self) -> bool:
        """Return whether the model may search libraries itself."""
        return self.own is not None and self.own.searches

    @property
    def tokens(self) -> int:
        """Maximum context of one answer, in tokens."""
        return (self.prompt_tokens or 0) + (self.max_tokens or 0)

    def body_of(self, index: int) -> dict[str, Any]:
        """Return the request body of one of the `n` answers, which differ by their seed."""
        if self.seed is None:
            return self.body
        return {**self.body, "seed": (self.seed + index) % _SEEDS}

    def is_cut_early(self, used: int | None) -> bool:
        """Return whether an answer of `used` tokens was cut before the requested limit."""
        return self.max_tokens is None or (used or self.max_tokens) < self.max_tokens

    def missing_format(self, text: str) -> str | None:
        """Return the format that an answer without calls lacks, or None if it lacks none."""
        if self.prompted.must_call:
            return "call"
        if self.schema is not None and not is_answer(self.prefix + text, self.schema):
            return "JSON"
        return None


def check(call: CompletionCall, connectors: Connectors) -> None:
    """Run the checks that need no model.

    Raises:
        ApiError: 400; 422, a schema is too large.
    """
    functions = [tool for tool in call.tools if isinstance(tool, FunctionTool)]
    refuse_too_large(("body", "tools"), *(tool.function.parameters for tool in functions))
    schema_of(call.format)
    for name in _NOT_SUPPORTED:
        if getattr(call.options, name):
            raise ApiError(400, f"This server does not support {name}. Leave it out.", param=name)
    for tool in connectors_among(call.tools):
        connector_of(tool, connectors)
        if asks_first(tool) and not call.can_confirm:
            raise ApiError(
                400,
                "Only a conversation asks before a connector's tool is called. Ask there, or leave"
                " requires_confirmation out.",
            )
    # Clients of chats bring talks along that they had with other services.
    check_order(call.options.messages, own_ids=not isinstance(call.options, ChatRequest))


def refuse_far_too_long(call: CompletionCall, context: int | None) -> None:
    """Refuse a prompt that no tokenizer could fit in, before a model is started or asked.

    `context` is the model's, in tokens; None if it is not known.

    Raises:
        ApiError: 400.
    """
    if context is None:
        return
    messages = call.options.messages
    stop = _first_set(call.options.stop, call.responder.arguments.stop) or []
    letters = (
        sum(letters_of(message) for message in messages)
        + sum(len(tool.model_dump_json()) for tool in call.tools)
        + len(call.responder.instructions)
        + sum(map(len, stop))
    )
    if len(messages) > context or letters > context * _MOST_LETTERS:
        raise ApiError(
            400,
            f"The prompt has {len(messages):,} messages and {letters:,} letters, far more than"
            f" the model's context of {context} tokens. Shorten it.",
            code="3051",
        )


async def make_plan(
    call: CompletionCall,
    model: str,
    session: ModelSession,
    search: SearchLibraries,
    connectors: Connectors,
    tell: Tell = tell_nobody,
) -> CompletionPlan:
    """Build the prompt with passages of the agent's libraries and check that it fits.

    Raises:
        ApiError: 400, the request asks for something impossible or too long; 503, a connector
            does not answer.
    """
    responder, request = call.responder, call.options
    arguments, tools = responder.arguments, call.tools
    schema = schema_of(call.format)
    libraries = library_ids(tools)
    functions = [tool for tool in tools if isinstance(tool, FunctionTool)]
    own = OwnTools(await _own_tools(call, functions, connectors, search, session), session.client)
    box = toolbox([*functions, *own.functions], call.tool_choice)
    native = {} if session.abilities.tools is False else box.openai()
    if native and not request.parallel_tool_calls:
        native["parallel_tool_calls"] = False
    prompted = _prompt_tools(box, request, session)
    max_tokens = _first_set(request.max_tokens, arguments.max_tokens)
    length = _Length(session, model, max_tokens, native)

    messages = _with_system(
        await as_chat(request.messages, session.abilities, call.read_document),
        responder.instructions,
        _REASONING if request.prompt_mode == "reasoning" else "",
        *own.instructions,
        prompted.prompt(),
    )
    prompt_tokens = await length.check(messages)
    passages: list[FoundPassage] | None = None
    query = ""
    if own.tools:
        own = replace(own, tokens=max(0, length.room(prompt_tokens, _RESULTS_SHARE)))
    if libraries and not own.searches and last_question(request.messages).strip():
        tell(Progress(stage="searching"))
        query, found = await find_for_last_question(
            request.messages, lambda words: search(LibraryQuery(libraries, words))
        )
        room = Room(length.room(prompt_tokens, _PASSAGES_SHARE), session.client)
        passages = await room.passages(found)
        messages = put_before(messages, passages)
        prompt_tokens = await length.check(messages)

    max_tokens = length.of_answer((prompt_tokens or 0) + own.tokens)
    held_to = prompted.schema() if prompted.must_call else schema
    temperature = _TEMPERATURE_WITH_PASSAGES if passages or own.searches else _TEMPERATURE
    return CompletionPlan(
        body={
            "model": model,
            "messages": messages,
            "temperature": _first_set(responder.temperature, temperature),
            **_sampling_parameters(request, responder, session),
            **({} if max_tokens is None else {"max_tokens": max_tokens}),
            **native,
            **_passthrough_fields(call, session),
            **_format(held_to, session, call.format),
        },
        n=request.n or 1,
        seed=_first_set(request.random_seed, arguments.random_seed),
        prompt_tokens=prompt_tokens,
        max_tokens=max_tokens,
        prefix=str(messages[-1]["content"]) if _begins_answer(request) else "",
        schema=schema,
        prompted=prompted,
        passages=passages,
        query=query,
        own=own if own.tools else None,
        parallel=request.parallel_tool_calls,
    )


async def _own_tools(
    call: CompletionCall,
    functions: Sequence[FunctionTool],
    connectors: Connectors,
    search: SearchLibraries,
    session: ModelSession,
) -> list[OwnTool]:
    """Return the functions that the server runs itself.

    Raises:
        ApiError: 400, the model calls no functions, which connectors need; 503, one is away.
    """
    libraries, asked = library_ids(call.tools), connectors_among(call.tools)
    if asked and session.abilities.tools is False:
        raise ApiError(400, "This model calls no functions, which connectors need. Use another.")
    # llama.cpp holds an answer to a schema or lets it call functions.
    held = schema_of(call.format) is not None and session.abilities.llama
    if session.abilities.tools is False or call.tool_choice not in ("auto", "any", "required"):
        return []
    if _begins_answer(call.options) or held:
        if asked:
            call.notes.append("Without effect with this format or prefix: connectors")
        return []
    names = {tool.function.name for tool in functions}
    own: list[OwnTool] = []
    if libraries and LIBRARY_FUNCTION not in names:
        own.append(LibrarySearch(libraries, search))
    if asked:
        own.append(await ConnectorCalls.of(call.tools, connectors))
    return own


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
        """Return the tokens of a prompt; None if the address cannot count them, or they are few.

        Raises:
            ApiError: 400, with the numbers.
        """
        if self._is_short(messages):
            return None
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

    def _is_short(self, messages: list[ChatMessage]) -> bool:
        """Return whether prompt and answer certainly fit into a request's share of the context.

        Counting the tokens would take as long as everything else before the model.
        """
        answer = self._session.default_max_tokens if self._max_tokens is None else self._max_tokens
        if self._context is None or self._tools or not answer:
            return False
        tokens = answer + _TEMPLATE_TOKENS
        for message in messages:
            if set(message) != {"role", "content"} or not isinstance(message["content"], str):
                return False
            # A token has at least a byte.
            tokens += _TEMPLATE_TOKENS + len(message["content"].encode())
        return tokens <= self._context // SLOTS

    def room(self, prompt: int | None, share: int) -> int:
        """Return the tokens left for passages beside a prompt, at most 1/`share` of the context."""
        answer = self._max_tokens or self._session.default_max_tokens or 0
        return min(
            (self._context or _USUAL_CONTEXT) // share,
            self._room_for_answer(prompt) - answer - _WRAPPING_TOKENS,
        )

    def of_answer(self, prompt: int | None) -> int | None:
        """Return the maximum length of the answer in tokens; None leaves it to the address."""
        usual = self._session.default_max_tokens
        if self._max_tokens is not None or usual is None:
            return self._max_tokens
        return min(usual, self._room_for_answer(prompt))

    def _room_for_answer(self, prompt: int | None) -> int:
        return (self._context or _USUAL_CONTEXT) - (prompt or 0)


def _prompt_tools(
    box: FunctionTools, request: CompletionOptions, session: ModelSession
) -> FunctionTools:
    """Return the tools to describe in the prompt, if the model's template has none."""
    if session.abilities.tools is not False:
        return FunctionTools()
    # Such a model repeats a call when it sees its result together with the tools.
    answered = isinstance(request.messages[-1], ToolMessage)
    return FunctionTools() if answered and not box.must_call else box


def _with_system(messages: list[ChatMessage], *texts: str) -> list[ChatMessage]:
    """Return the messages with their leading system messages and these texts merged into one."""
    rest = list(messages)
    said = [texts[0]]
    while rest and rest[0]["role"] == "system":
        said.append(rest.pop(0)["content"])
    system = "\n\n".join(text for text in [*said, *texts[1:]] if text)
    return [{"role": "system", "content": system}, *rest] if system else rest


def _sampling_parameters(
    request: CompletionOptions, responder: Responder, session: ModelSession
) -> dict[str, Any]:
    arguments = responder.arguments
    stop = _first_set(request.stop, arguments.stop) or []
    repetition = "repeat_penalty" if session.abilities.llama else "repetition_penalty"
    chosen = {
        "top_p": responder.top_p,
        "top_k": request.top_k,
        "frequency_penalty": _first_set(request.frequency_penalty, arguments.frequency_penalty),
        "presence_penalty": _first_set(request.presence_penalty, arguments.presence_penalty),
        repetition: request.repetition_penalty,
        "stop": [text for text in ([stop] if isinstance(stop, str) else stop) if text] or None,
    }
    usual = session.sampling if request.repetition_penalty is None else {}
    return {**usual, **{name: value for name, value in chosen.items() if value is not None}}


def _passthrough_fields(call: CompletionCall, session: ModelSession) -> dict[str, Any]:
    """Return the fields that a model at an address gets unchanged.

    Raises:
        ApiError: 400, the built-in model does not have one.
    """
    request, arguments = call.options, call.responder.arguments
    given = {
        name: value
        for name in (*_FORWARDED, *_FORWARDED_HINTS)
        if (value := _first_set(getattr(request, name, None), getattr(arguments, name, None)))
        not in (None, False)
    }
    if not session.is_embedded:
        if request.prompt_mode == "reasoning":
            given.setdefault("reasoning_effort", "high")
        return {
            name: value.body() if isinstance(value, Prediction) else value
            for name, value in given.items()
        }
    for name in _FORWARDED:
        if name in given:
            raise ApiError(400, f"This model does not support {name}. Leave it out.", param=name)
    if given:
        call.notes.append(f"Without effect with this model: {', '.join(given)}")
    return {}


def _format(
    schema: dict[str, Any] | None, session: ModelSession, asked: ResponseFormat | None
) -> dict[str, Any]:
    """Return the response format that constrains the model to a schema."""
    if schema is None:
        return {}
    limited = bound(schema) if session.abilities.llama else schema
    name = asked.json_schema.name if asked and asked.json_schema else "answer"
    named = {"name": name, "schema": limited, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _begins_answer(request: CompletionOptions) -> bool:
    """Return whether the last message is the beginning of the answer."""
    last = request.messages[-1]
    return isinstance(last, AssistantMessage) and last.prefix


def _first_set(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
