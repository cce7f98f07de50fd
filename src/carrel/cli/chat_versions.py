"""One question to several versions of an agent, answered one after the other."""

from typing import TYPE_CHECKING, Any

from carrel.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.client import Client
    from carrel.store.chat.asked import Asked
    from carrel.store.chat.conversation import Turn
    from carrel.wire.agents import Agent


async def ask_versions(
    client: "Client",
    agent: "Agent",
    question: str,
    versions: "Sequence[int]",
    seed: int | None,
    *,
    quiet: bool,
) -> "list[dict[str, Any]]":
    """Asks each version in turn; returns the answers with all their figures.

    Prints each under its version as it is written, unless `quiet`. Those that answer one after
    the other do not share the model, so that their figures compare. A version that fails does
    not hold up the next.
    """
    from carrel.client.errors import ServiceError
    from carrel.store.chat.asked import Asked

    asked = []
    # All of them before the first question: one that is missing costs no answer.
    for number in dict.fromkeys(versions):
        active = number == agent.version
        fields = agent if active else await client.agents.version(agent.id, number)
        asked.append(Asked(fields, active=active))
    answers = []
    for one in asked:
        if not quiet:
            print(f"## {output.one_line(agent.name)} v{one.version}\n")
        error: str | None = None
        turn: Turn | None = None
        try:
            turn = await _answer(client, one, question, seed, quiet=quiet)
        except ServiceError as failed:
            error = str(failed)
        if not quiet:
            _tell(turn, error)
        answers.append(_as_json(one, seed, turn, error))
    return answers


async def _answer(
    client: "Client", asked: "Asked", question: str, seed: int | None, *, quiet: bool
) -> "Turn":
    from carrel.store.chat.conversation import Turn
    from carrel.store.chat.growing_answer import GrowingAnswer
    from carrel.store.chat.parameters import Parameters
    from carrel.wire.completions import CompletionRequest, UserMessage

    parameters = Parameters(seed=seed)
    printed = 0

    def grown(turn: Turn) -> None:
        nonlocal printed
        if not quiet:
            print(turn.text[printed:], end="", flush=True)
        printed = len(turn.text)

    answer = GrowingAnswer(grown, Turn("assistant", "", "writing", version=asked.version))
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
    """Ends an answer that was printed, with its figures and sources beside it."""
    from carrel.store.chat.words import CUT, source_words
    from carrel.store.comparison.words import turn_figures

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
    asked: "Asked", seed: int | None, turn: "Turn | None", error: str | None
) -> dict[str, Any]:
    """An answer with its figures: seconds to the first token, tokens a second, tokens."""
    return {
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
        "sources": [one.model_dump(mode="json") for one in turn.sources] if turn else [],
    }
