"""`carrel chat`: one question to an agent."""

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_agent
from carrel.cli.options import JSONOption, ProfileOption, argument, option
from carrel.cli.session import run
from carrel.cli.tools import open_tools
from carrel.config.profiles import load_profile
from carrel.store.core.formatting import duration, shorten

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.tools.state import AgentCall
    from carrel.wire.generation.completions import (
        AssistantMessage,
        Completion,
        CompletionRequest,
        Passage,
        Progress,
    )
    from carrel.wire.generation.tools import ToolCall

_RESULT = 60
"""Most characters shown of a result."""


def chat(
    agent: Annotated[str, argument("AGENT", "An agent's id or name.")],
    question: Annotated[
        str | None, argument("QUESTION", "The question. Default: standard input.")
    ] = None,
    tool: Annotated[
        list[str] | None,
        option(
            "NAME",
            "A command or MCP server of the settings whose tools the agent may use. Repeat "
            "it for more. See: carrel tools list",
        ),
    ] = None,
    version: Annotated[
        list[int] | None,
        option(
            "N",
            "A version to ask instead of the active one; repeat it to compare.",
            "--version",
            min=0,
        ),
    ] = None,
    beside: Annotated[
        list[str] | None,
        option(
            "OTHER",
            "Ask another agent the same: its id or name, or the YAML file of one that is not "
            "saved. Repeat it for more.",
        ),
    ] = None,
    seed: Annotated[int | None, option("N", "The random seed, the same for all.", min=0)] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Ask an agent. The answer streams to stdout; sources go to stderr.

    Function calls of the agent are answered by the commands of the settings with their names.

    With --version or --beside, each answers in turn, with its time to the first token, tokens a
    second and tokens used. Versions that are not active, and agents from files, answer as an agent
    made for the question and removed after it.
    """
    from carrel.store.chat.parameters import Parameters
    from carrel.wire.generation.completions import AssistantMessage, CompletionRequest, UserMessage

    asked = question if question is not None else _from_stdin()
    if not asked.strip():
        raise CommandError("The question is empty. Give one, or pipe it in.", Code.USAGE)

    if version or beside:
        if tool:
            raise CommandError("--tool takes one agent at its active version.", Code.USAGE)
        _compare(profile, agent, asked, version or (), beside or (), seed, json=json)
        return
    chosen = load_profile(profile)

    async def work(client: "Client") -> "Completion | None":
        from carrel.store.chat.answering.agent import AnsweringAgent
        from carrel.store.tools.loop import complete_with_tools
        from carrel.wire.generation.content import text_of

        found = await find_agent(client, agent)
        request = CompletionRequest(
            agent_id=found.id,
            messages=[UserMessage(content=asked)],
            **Parameters(seed=seed).request(),
        )
        answers: list[Completion] = []

        async def complete(request: CompletionRequest) -> AssistantMessage:
            if not json:
                return await _stream(client, request)
            answers.append(await client.completions.complete(request))
            message = answers[-1].choices[0].message
            return AssistantMessage(content=text_of(message.content), tool_calls=message.tool_calls)

        async with open_tools(chosen) as tools:
            request, end = await complete_with_tools(
                request,
                complete,
                tools.of_question(tool or ()),
                known=AnsweringAgent(found, active=True).functions,
                called=_note_call,
            )
        if end != "answered" and not json:
            raise CommandError(_explain_no_answer(request, end))
        return answers[-1] if answers else None

    completion = run(profile, work)
    if completion is not None:
        output.as_json(completion)
        if any(choice.finish_reason == "error" for choice in completion.choices):
            raise CommandError("The service failed during the answer. Try again.")


def _compare(
    profile: str | None,
    agent: str,
    question: str,
    versions: Sequence[int],
    beside: Sequence[str],
    seed: int | None,
    *,
    json: bool,
) -> None:
    from carrel.cli.compared import ask_each, drafts_of, sides

    files = drafts_of(beside)

    async def work(client: "Client") -> "list[dict[str, Any]]":
        asked = await sides(client, agent, versions, beside, files)
        return await ask_each(client, asked, question, seed, quiet=json)

    # Anything but an agent's active version answers through a trial agent.
    answers = run(profile, work, changes=True)
    if json:
        output.as_json(answers)
    if any(answer["error"] is not None for answer in answers):
        raise CommandError("Not all of them answered.")


def _note_call(call: "AgentCall", result: str) -> None:
    from carrel.store.chat.formatting import call_words

    output.note(f"▸ {call_words(call)} → {shorten(output.one_line(result), _RESULT)}")


def _explain_no_answer(request: "CompletionRequest", end: str) -> str:
    """Return the reason for a missing answer: a call without a tool, or too many calls."""
    from carrel.store.chat.formatting import call_words
    from carrel.store.tools.formatting import PAUSED
    from carrel.store.tools.state import AgentCall

    if end == "limit":
        return f"{PAUSED.title}: the agent went on calling functions. Ask again."
    answered = {getattr(message, "tool_call_id", None) for message in request.messages}
    asked = [message for message in request.messages if message.role == "assistant"]
    call = next(call for call in asked[-1].tool_calls or () if call.id not in answered)
    words = call_words(AgentCall(call.id, call.function.name, call.function.arguments))
    return (
        f"The agent calls {words}, and nothing here answers it. Name a command for it under "
        "[tools] in the settings, or allow it with: carrel tools allow " + call.function.name
    )


async def _stream(client: "Client", request: "CompletionRequest") -> "AssistantMessage":
    from carrel.store.chat.formatting import CUT, PHASES, source_words, step_words
    from carrel.wire.generation.completions import AssistantMessage
    from carrel.wire.generation.content import text_of, thinking_of

    sources: Sequence[Passage] = []
    calls: list[ToolCall] = []
    reason: str | None = None
    began: float | None = None
    written: list[str] = []
    try:
        with ExitStack() as waiting:
            # A model may have to load first.
            show = waiting.enter_context(output.show_changing())

            def show_step(progress: "Progress") -> None:
                if not written:
                    show(f"{step_words(progress).capitalize()} …")

            show(f"{PHASES['waiting'].capitalize()} …")
            async with client.completions.stream(request, show_step) as chunks:
                async for chunk in chunks:
                    for choice in chunk.choices:
                        content = choice.delta.content
                        if choice.delta.reasoning_content or thinking_of(content):
                            began = began or time.monotonic()
                            show(f"{PHASES['thinking'].capitalize()} …")
                        if text := text_of(content):
                            waiting.close()
                            if began is not None and not written:
                                output.note(f"Thought for {duration(time.monotonic() - began)}.")
                            print(text, end="", flush=True)
                            written.append(text)
                        sources = choice.delta.sources or sources
                        calls += choice.delta.tool_calls or ()
                        reason = choice.finish_reason or reason
    finally:
        if written:
            print()  # a stopped answer ends its line too
    for source in sources:
        output.note(source_words(source))
    if reason in ("length", "model_length"):
        output.note(CUT)
    return AssistantMessage(content="".join(written), tool_calls=calls or None)


def _from_stdin() -> str:
    if sys.stdin.isatty():
        raise CommandError('Give a question: carrel chat AGENT "…"', Code.USAGE)
    return sys.stdin.read()
