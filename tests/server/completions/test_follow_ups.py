"""Follow-up questions, made to stand by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.completions.follow_ups import (
    find_for_last_question,
    is_follow_up,
    standalone,
)
from carrel.server.completions.sources import QUERY_CHARACTERS
from carrel.server.library.search import FoundPassage
from carrel.wire.generation.completions import AssistantMessage, Message, UserMessage


@pytest.mark.parametrize(
    ("question", "follows"),
    [
        ("And for workers?", True),
        ("What about probation?", True),
        ("How long does that take?", True),
        ("Und für Arbeiter?", True),
        ("Why?", True),
        ("How long is the notice period?", False),
        ("Is there a deposit?", False),
        ("How high is VAT?", False),
    ],
)
def test_a_question_that_leans_on_the_one_before(question: str, follows: bool) -> None:
    assert is_follow_up(question) is follows


def test_key_words_come_from_the_questions_that_it_follows() -> None:
    earlier = ["What is the rent?", "How long is the notice period?", "And for employees?"]
    joined = standalone("And for workers?", earlier)
    assert joined.startswith("And for workers? ")
    assert {"employees", "notice", "period"} <= set(joined.split())
    assert "rent" not in joined


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=9))
def test_a_query_begins_with_its_question_and_is_bounded(question: str, earlier: list[str]) -> None:
    joined = standalone(question, earlier)
    assert joined.startswith(question) and len(joined) <= QUERY_CHARACTERS


def passage(name: str, text: str, *, weak: bool = False) -> FoundPassage:
    return FoundPassage(
        document_id=name,
        document_name=name,
        page=0,
        snippet=text,
        score=0.9,
        library_id="l",
        text=text,
        is_weak=weak,
    )


NOTICE = passage("notice", "The notice period for employees is three months.")
WORKERS = passage("workers", "For workers the period is two weeks.")
ELSEWHERE = passage("elsewhere", "Penguins live in the south.", weak=True)

TALK: list[Message] = [
    UserMessage(content="How long is the notice period?"),
    AssistantMessage(content="The notice period for employees is three months."),
]


async def test_passages_that_were_used_stay_and_weak_ones_are_not_given() -> None:
    asked: list[str] = []

    async def find(words: str) -> list[FoundPassage]:
        asked.append(words)
        return [WORKERS, ELSEWHERE] if "workers" in words else [NOTICE, WORKERS]

    query, found = await find_for_last_question(
        [*TALK, UserMessage(content="And for workers?")], find
    )
    assert query == asked[0] and "notice" in query
    assert [one.document_name for one in found] == ["workers", "notice"]


async def test_a_question_that_finds_nothing_by_itself_is_searched_with_those_before() -> None:
    async def find(words: str) -> list[FoundPassage]:
        return [NOTICE] if "notice" in words else [ELSEWHERE]

    query, found = await find_for_last_question(
        [*TALK, UserMessage(content="Employees get how much?")], find
    )
    assert "notice" in query and found == [NOTICE]
    alone = await find_for_last_question([UserMessage(content="Where are penguins?")], find)
    assert alone == ("Where are penguins?", [])
