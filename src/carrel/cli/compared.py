"""One question to several agents, versions or drafts, answered in turn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.cli import output
from carrel.cli.agent_changes import library_names
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import check_version, find_agent
from carrel.client.http.errors import ServiceError

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.agents.definitions import Defined
    from carrel.store.chat.answering.agent import AnsweringAgent
    from carrel.store.chat.conversation import Turn
    from carrel.wire.generation.agents import AgentCreate


def drafts_of(beside: Sequence[str]) -> "dict[str, Defined]":
    """Return the agents defined in files, by path.

    Raises:
        CommandError: a file has several agents.
        FileError: a file is not an agent.
    """
    from carrel.store.agents.definitions import SUFFIXES, read_definitions

    found = {}
    for name in beside:
        if Path(name).suffix not in SUFFIXES:
            continue
        defined = read_definitions([Path(name)])
        if len(defined) != 1:
            raise CommandError(
                f"{name} has {len(defined)} agents: give a file with one.", Code.USAGE
            )
        found[name] = defined[0]
    return found


async def sides(
    client: "Client",
    agent: str,
    versions: Sequence[int],
    beside: Sequence[str],
    files: "Mapping[str, Defined]",
) -> "list[AnsweringAgent]":
    """Return the answering sides: versions of an agent, or its active one, then the others.

    All are resolved before the first question, so that a missing one costs no answer.
    """
    from carrel.store.chat.answering.agent import AnsweringAgent

    first = await find_agent(client, agent)
    asked = []
    for number in dict.fromkeys(versions or [first.version]):
        active = number == first.version
        fields = (
            first if active else await client.agents.version(first.id, check_version(first, number))
        )
        asked.append(AnsweringAgent(fields, active=active))
    for name in beside:
        if name in files:
            asked.append(AnsweringAgent(await _draft(client, files[name]), active=False))
        else:
            asked.append(AnsweringAgent(await find_agent(client, name), active=True))
    return asked


async def _draft(client: "Client", defined: "Defined") -> "AgentCreate":
    from carrel.store.agents.definitions import Names
    from carrel.store.agents.drafts import Draft
    from carrel.store.agents.plan import default_model

    agents = {known.id: known.name async for known in client.agents.every()}
    names = Names(await library_names(client), agents)
    model = defined.definition.model or await default_model(client)
    return Draft.blank().changed(**names.fields(defined, model)).create()


async def ask_each(
    client: "Client",
    asked: "Sequence[AnsweringAgent]",
    question: str,
    seed: int | None,
    *,
    quiet: bool,
) -> "list[dict[str, Any]]":
    """Ask each side in turn; return the answers with all figures.

    Prints each answer under its side's name during its generation, unless `quiet`. Answers in turn
    do not share the model, so that their figures compare. A failed one does not stop the others.
    """
    answers = []
    for agent in asked:
        if not quiet:
            kind = "draft" if agent.version is None else f"v{agent.version}"
            print(f"## {output.one_line(agent.fields.name)} {kind}\n")
        error: str | None = None
        turn: Turn | None = None
        try:
            turn = await _answer(client, agent, question, seed, quiet=quiet)
        except ServiceError as failed:
            error = str(failed)
        if not quiet:
            _tell(turn, error)
        answers.append(_as_json(agent, seed, turn, error))
    return answers


async def _answer(
    client: "Client", asked: "AnsweringAgent", question: str, seed: int | None, *, quiet: bool
) -> "Turn":
    from carrel.store.chat.answering.growing_answer import GrowingAnswer
    from carrel.store.chat.conversation import Turn
    from carrel.store.chat.parameters import Parameters
    from carrel.wire.generation.completions import CompletionRequest, UserMessage

    parameters = Parameters(seed=seed)
    printed = 0

    def print_growth(turn: Turn) -> None:
        nonlocal printed
        if not quiet:
            print(turn.text[printed:], end="", flush=True)
        printed = len(turn.text)

    answer = GrowingAnswer(print_growth, Turn("assistant", "", "writing", version=asked.version))
    answer.trial = not asked.active
    try:
        async with asked.answering(client, parameters) as agent_id:
            request = CompletionRequest(
                agent_id=agent_id, messages=[UserMessage(content=question)], **parameters.request()
            )
            async with client.completions.stream(request) as chunks:
                async for chunk in chunks:
                    answer.take(chunk)
    except BaseException:
        answer.end("failed")
        raise
    answer.end("done")
    return answer.turn


def _tell(turn: "Turn | None", error: str | None) -> None:
    """Finish a printed answer with its figures and sources."""
    from carrel.store.chat.formatting import CUT, source_words
    from carrel.store.comparison.formatting import turn_figures

    print("\n", flush=True)
    if turn is None:
        output.note(f"No answer: {error}")
        return
    output.note(turn_figures(turn))
    for source in turn.sources:
        output.note(source_words(source))
    if turn.cut:
        output.note(CUT)


def _as_json(
    asked: "AnsweringAgent", seed: int | None, turn: "Turn | None", error: str | None
) -> dict[str, Any]:
    """Return an answer with its figures: seconds to the first token, tokens a second, tokens."""
    return {
        "agent": asked.fields.name,
        "version": asked.version,
        "model": asked.fields.model,
        "seed": seed,
        "answer": turn.text if turn else None,
        "error": error,
        "first_token_seconds": turn.first_token if turn else None,
        "tokens_per_second": turn.rate if turn else None,
        "prompt_tokens": turn.prompt_tokens if turn else None,
        "completion_tokens": turn.completion_tokens if turn else None,
        "cut": turn.cut if turn else False,
        "sources": [source.model_dump(mode="json") for source in turn.sources] if turn else [],
    }
