"""A run's requests to its service: the answering version, judges, embeddings, and back-off."""

from __future__ import annotations

import asyncio
import json
import math
import operator
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from carrel.client.http.errors import NotFound, ServiceError, UnexpectedAnswer
from carrel.store.chat.answering.agent import AnsweringAgent
from carrel.store.chat.parameters import AGENTS_OWN
from carrel.store.core.formatting import one_line
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.evals.cases import Case, Judge
from carrel.store.tools.formatting import PAUSED
from carrel.store.tools.loop import Tools, complete_with_tools

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import Agent
    from carrel.wire.generation.completions import Completion, CompletionRequest, Passage

T = TypeVar("T")

_PATIENCE = {429: 20, 502: 3, 503: 3, 504: 3}
"""Number of retries by the status of the refusal."""
_PAUSE = 5.0
"""First pause after a refusal; it doubles with each further one."""
_LONGEST_PAUSE = 300.0
"""Longest pause, even if the service asks for more."""
_VERDICT = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"reason": {"type": "string"}, "passed": {"type": "boolean"}},
            "required": ["reason", "passed"],
            "additionalProperties": False,
        },
    },
}


class Pace:
    """Shared back-off while the service asks to slow down. `waiting` is called with the seconds."""

    def __init__(self, waiting: Callable[[float], object]) -> None:
        self._waiting = waiting
        self._until = 0.0

    async def keep(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `ask`, retried while the service refuses for the rate.

        Raises:
            ClientError: it was refused for another reason, or too often.
        """
        asked = 0
        while True:
            await asyncio.sleep(max(0.0, self._until - time.monotonic()))
            try:
                return await ask()
            except ServiceError as error:
                if asked >= _PATIENCE.get(error.status, 0):
                    raise
                self._hold(error.retry_after, asked)
                asked += 1

    def _hold(self, seconds: float | None, asked: int) -> None:
        pause = min(seconds or _PAUSE * 2 ** min(asked, 4), _LONGEST_PAUSE)
        if time.monotonic() + pause > self._until:
            self._until = time.monotonic() + pause
            self._waiting(pause)


@dataclass
class Answered:
    """An answer after all its steps. `seconds` and tokens are totals."""

    text: str = ""
    passages: list[Passage] = field(default_factory=list)
    error: str = ""
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, completion: Completion, seconds: float) -> None:
        """Add the answer of one step."""
        self.seconds += seconds
        self.prompt_tokens += completion.usage.prompt_tokens
        self.completion_tokens += completion.usage.completion_tokens
        from carrel.wire.generation.content import text_of

        message = completion.choices[0].message
        self.text = text_of(message.content)
        self.passages += message.sources or ()
        if completion.choices[0].finish_reason == "error":
            self.error = "The service failed during the answer."
        elif not self.text.strip() and not message.tool_calls:
            self.error = "The answer is empty."


class Target:
    """The answering version of an agent.

    The active version answers itself; any other is copied to a trial agent, removed at the end.
    """

    def __init__(
        self, client: Client, version: Agent, *, active: bool, made: Callable[[str], object]
    ) -> None:
        """Ask this version of an agent.

        Unless it is `active`, a trial agent answers: `made` is called with the trial's id, and with
        an empty id after its deletion.
        """
        self._client = client
        self._asked = AnsweringAgent(version, active)
        self._version = version
        self._active = active
        self._made = made
        self._agent_id = ""
        self._renewing = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Target:
        await self._enter()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        if not self._active:
            self._made("")

    async def answer(self, case: Case, seed: int | None, pace: Pace, tools: Tools) -> Answered:
        """Return the answer to a case; `tools` answer its function calls.

        Raises:
            ProblemError: the version is gone, another was activated, or a tool is unavailable.
            ClientError: the service refused.
        """
        from carrel.wire.generation.completions import AssistantMessage

        answered = Answered()

        async def complete(request: CompletionRequest) -> AssistantMessage:
            async def ask() -> Completion:
                began = time.monotonic()
                completion = await self._complete(request)
                # Waiting for the service is not the agent's time.
                answered.add(completion, time.monotonic() - began)
                return completion

            message = (await pace.keep(ask)).choices[0].message
            return AssistantMessage(
                content=answered.text, tool_calls=list(message.tool_calls or ()) or None
            )

        request, end = await complete_with_tools(
            case.request("", seed), complete, tools, known=self._asked.functions
        )
        if end != "answered":
            answered.error = _explain_unanswered(request, end)
        return answered

    async def _complete(self, request: CompletionRequest) -> Completion:
        agent_id = self._agent_id
        try:
            completion = await self._ask(agent_id, request)
        except NotFound:
            await self._renew(agent_id)
            completion = await self._ask(self._agent_id, request)
        version = completion.agent_version
        if self._active and version is not None and version != self._version.version:
            raise ProblemError(self._replacement_problem(version))
        return completion

    async def _ask(self, agent_id: str, request: CompletionRequest) -> Completion:
        named = request.model_copy(update={"agent_id": agent_id})
        completion = await self._client.completions.complete(named)
        if not completion.choices:
            raise UnexpectedAnswer("The service gave no answer, and no reason.")
        return completion

    async def _enter(self) -> None:
        answering = self._asked.answering(self._client, AGENTS_OWN)
        self._agent_id = await self._stack.enter_async_context(answering)
        if not self._active:
            self._made(self._agent_id)

    async def _renew(self, agent_id: str) -> None:
        """Create the trial agent again if a clean-up removed it."""
        async with self._renewing:
            if self._agent_id != agent_id:
                return
            try:
                await self._client.agents.version(self._version.id, self._version.version)
            except NotFound as error:
                raise ProblemError(self._deletion_problem()) from error
            if not self._active:
                await self._enter()

    def _deletion_problem(self) -> Problem:
        name = f"v{self._version.version} of {one_line(self._version.name)}"
        return Problem(
            f"{name} is gone", "It was deleted during the run.", "Finished answers are kept."
        )

    def _replacement_problem(self, version: int) -> Problem:
        number = self._version.version
        return Problem(
            f"{one_line(self._version.name)} was changed during the run",
            f"v{version} answers now, and this run is of v{number}.",
            f"Continue with: --version {number} --resume",
        )


class Asking:
    """The requests that checks of an answer make. `judging` counts the judges' tokens."""

    def __init__(self, client: Client, pace: Pace, judges: dict[str, str]) -> None:
        """Take the service. `judges` maps the set's names of judges to agent ids."""
        self._client = client
        self._pace = pace
        self._judges = judges
        self.judging = 0

    async def similarity(self, one: str, other: str, model: str) -> float:
        """Return the cosine similarity of two texts, or 0 if one is empty."""
        if not one.strip() or not other.strip():
            return 0.0
        found = await self._pace.keep(
            lambda: self._client.embeddings.create(model=model, input=[one, other])
        )
        first, second = (list(map(float, each.embedding)) for each in found.data)
        length = math.hypot(*first) * math.hypot(*second)
        return sum(map(operator.mul, first, second)) / length if length else 0.0

    async def verdict(self, judge: Judge, case: Case, answer: str) -> tuple[bool, str]:
        """Return an agent's verdict on an answer, and its reason."""
        from carrel.wire.generation.content import text_of

        request = _judge_request(self._judges[judge.agent], judge, case, answer)
        completion = await self._pace.keep(lambda: self._client.completions.complete(request))
        self.judging += completion.usage.total_tokens
        return _read_verdict(text_of(completion.choices[0].message.content))


def _explain_unanswered(request: CompletionRequest, end: str) -> str:
    if end == "limit":
        return PAUSED.detail
    *_, last = (message for message in request.messages if message.role == "assistant")
    names = ", ".join(call.function.name for call in last.tool_calls or ())
    return f"The agent calls {names}, and nothing here answers it."


def _judge_request(agent_id: str, judge: Judge, case: Case, answer: str) -> CompletionRequest:
    from carrel.wire.generation.completions import CompletionRequest

    asked = (
        f"Criterion:\n{judge.criterion}\n\nQuestion:\n{case.question}\n\nAnswer:\n{answer}\n\n"
        "Does the answer meet the criterion? Give the reason in one sentence, then the result, as "
        'JSON: {"reason": "…", "passed": true}'
    )
    return CompletionRequest.model_validate(
        {
            "agent_id": agent_id,
            "messages": [{"role": "user", "content": asked}],
            "response_format": _VERDICT,
        }
    )


def _read_verdict(text: str) -> tuple[bool, str]:
    begin, end = text.find("{"), text.rfind("}")
    try:
        said = json.loads(text[begin : end + 1])
        passed, reason = said["passed"], said.get("reason", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False, f"the judge gave no verdict: {one_line(text)[:200]}"
    return passed is True, one_line(str(reason)) or "the judge gave no reason"
