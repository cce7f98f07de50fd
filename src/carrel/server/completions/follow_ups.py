"""Follow-up questions made to stand by themselves, for a search without the conversation."""

import re
from collections.abc import Awaitable, Callable, Sequence

from carrel.server.completions.messages import plain_text
from carrel.server.completions.sources import QUERY_CHARACTERS
from carrel.server.library.fulltext.words import content_words
from carrel.server.library.search import FoundPassage
from carrel.wire.generation.completions import AssistantMessage, Message, UserMessage

Find = Callable[[str], Awaitable[list[FoundPassage]]]
"""The passages for some words, best first."""

_LEADS = re.compile(
    r"\W*(and|but|or|also|then|what about|how about|und|aber|oder|auch|et|mais|ou|y|pero|e|ma)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(it|its|he|him|his|she|her|they|them|their|theirs|that|this|these|those|same|such|es|dies|diese|dieser|dieses|dort|davon|dafür|dabei|dazu|ihm|ihnen)\b",
    re.IGNORECASE,
)
_USED = 0.5
"""Least share of an answer's words in a passage that it was written from."""
_MOST_USED = 2
_STEM = 4
"""Number of first letters that the forms of a word share."""


async def find_for_last_question(
    messages: Sequence[Message], find: Find
) -> tuple[str, list[FoundPassage]]:
    """Return the search query for the last question, and the passages found, best first.

    A follow-up, or a question whose own words find nothing, is searched with the key words of the
    questions before it; each passage found has a word of the question itself. Passages that the
    last answer was written from are kept beside them.
    """
    asked = [plain_text(one.content).strip() for one in messages if isinstance(one, UserMessage)]
    *earlier, question = asked
    joined = standalone(question, earlier)
    query = joined if is_follow_up(question) else question
    found = _keep_relevant(await find(query), question)
    if not found and joined != question:
        query = question if query == joined else joined
        found = _keep_relevant(await find(query), question)
    if not found or not earlier:
        return query, found
    used = await _passages_of_answer(messages, earlier, find)
    known = {passage.text for passage in found}
    return query, [*found, *(passage for passage in used if passage.text not in known)]


def is_follow_up(question: str) -> bool:
    """Return whether a question depends on the one before, by its first word or a pronoun."""
    leans = _LEADS.match(question) or _POINTS.search(question)
    return bool(leans) or not content_words(question)


def standalone(question: str, earlier: Sequence[str]) -> str:
    """Return a question with the key words of the earlier ones on which it depends."""
    words = set(content_words(question))
    parts = [question]
    for before in reversed(earlier):
        new = [word for word in content_words(before) if word not in words]
        words.update(new)
        parts += new
        if not is_follow_up(before):
            break
    return " ".join(parts)[:QUERY_CHARACTERS]


def _keep_relevant(found: Sequence[FoundPassage], question: str) -> list[FoundPassage]:
    """Return the passages about the question itself, not just about earlier ones."""
    stems = _stems(question)
    return [
        passage
        for passage in found
        if not passage.is_weak and (not stems or stems & _stems(passage.text))
    ]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in content_words(text)}


async def _passages_of_answer(
    messages: Sequence[Message], earlier: Sequence[str], find: Find
) -> list[FoundPassage]:
    """Return the passages that the last answer has most of its words from."""
    answers = [plain_text(one.content) for one in messages if isinstance(one, AssistantMessage)]
    words = _stems(answers[-1]) if answers else set()
    if not words:
        return []
    found = await find(standalone(earlier[-1], earlier[:-1]))
    shares = {at: len(words & _stems(one.text)) / len(words) for at, one in enumerate(found)}
    best = sorted((at for at in shares if shares[at] >= _USED), key=lambda at: (-shares[at], at))
    return [found[at] for at in best[:_MOST_USED]]
