"""`carrel chat`: one question to an agent."""

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_agent
from carrel.cli.options import JSONOption, ProfileOption
from carrel.cli.session import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.client import Client
    from carrel.wire.completions import Completion, CompletionRequest, Passage, Progress


def chat(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An agent's id or name.")],
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION", show_default=False, help="The question. Default: standard input."
        ),
    ] = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Ask an agent. The answer streams to stdout; sources go to stderr."""
    from carrel.wire.completions import CompletionRequest, UserMessage

    asked = question if question is not None else _from_stdin()
    if not asked.strip():
        raise CommandError("The question is empty. Give one, or pipe it in.", Code.USAGE)

    async def work(client: "Client") -> "Completion | None":
        found = await find_agent(client, agent)
        request = CompletionRequest(agent_id=found.id, messages=[UserMessage(content=asked)])
        if json:
            return await client.completions.complete(request)
        await _stream(client, request)
        return None

    completion = run(profile, work)
    if completion is not None:
        output.as_json(completion)
        if any(choice.finish_reason == "error" for choice in completion.choices):
            raise CommandError("The service failed during the answer. Try again.")


async def _stream(client: "Client", request: "CompletionRequest") -> None:
    from carrel.store.chat.words import CUT, PHASES, source_words, step_words

    sources: Sequence[Passage] = []
    reason: str | None = None
    written = False
    try:
        with ExitStack() as waiting:
            # A model may have to load first.
            show = waiting.enter_context(output.changing())

            def stepped(progress: "Progress") -> None:
                if not written:
                    show(f"{step_words(progress).capitalize()} …")

            show(f"{PHASES['waiting'].capitalize()} …")
            async with client.completions.stream(request, stepped) as chunks:
                async for chunk in chunks:
                    for choice in chunk.choices:
                        if text := _text(choice.delta.content):
                            waiting.close()
                            print(text, end="", flush=True)
                            written = True
                        sources = choice.delta.sources or sources
                        reason = choice.finish_reason or reason
    finally:
        if written:
            print()  # an answer that was stopped ends its line too
    for source in sources:
        output.note(source_words(source))
    if reason in ("length", "model_length"):
        output.note(CUT)


def _text(content: object) -> str:
    """The text of a delta, which may come as chunks of several kinds."""
    if isinstance(content, list):
        return "".join(str(chunk.get("text", "")) for chunk in content)
    return str(content or "")


def _from_stdin() -> str:
    if sys.stdin.isatty():
        raise CommandError('Give a question: carrel chat AGENT "…"', Code.USAGE)
    return sys.stdin.read()
