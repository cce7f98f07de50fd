from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.tools.state import AgentCall


def texts(conversation: Conversation) -> list[str]:
    return [turn.text for turn in conversation.turns]


def chat(*words: str) -> Conversation:
    return Conversation.of(
        *(Turn("assistant" if place % 2 else "user", word) for place, word in enumerate(words))
    )


def test_a_second_answer_is_a_variant_and_the_first_comes_back_with_what_followed() -> None:
    first = chat("a?", "1", "b?", "2")
    second = first.cut_before(1).add(Turn("assistant", "one"))
    assert texts(second) == ["a?", "one"]
    assert [second.variant(place) for place in (0, 1)] == [(1, 1), (2, 2)]
    assert texts(second.choose(1, 1)) == ["a?", "1", "b?", "2"]


def test_another_first_question_begins_a_path_of_its_own() -> None:
    changed = chat("a?", "1").cut_before(0).add(Turn("user", "A?"))
    assert texts(changed) == ["A?"] and changed.variant(0) == (2, 2)
    assert texts(changed.choose(0, 1)) == ["a?", "1"]


def test_calls_are_open_until_each_has_its_result() -> None:
    calls = (AgentCall("1", "f", "{}"), AgentCall("2", "g", "{}"))
    conversation = Conversation.of(Turn("user", "a?"), Turn("assistant", "", calls=calls))
    assert conversation.open_calls() == calls
    conversation = conversation.add(Turn("tool", "x", call_id="2"))
    assert conversation.open_calls() == calls[:1]
    conversation = conversation.add(Turn("tool", "y", call_id="1"))
    assert conversation.open_calls() == ()
    stopped = Conversation.of(Turn("assistant", "", "stopped", calls=calls))
    assert stopped.open_calls() == ()


class Chatting(RuleBasedStateMachine):
    """Questions, answers and choices at random: nothing said is lost, every path leads home."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation = Conversation()
        self.said: list[str] = []

    @rule()
    def say(self) -> None:
        word = str(len(self.said))
        self.said.append(word)
        before = texts(self.conversation)
        self.conversation = self.conversation.add(Turn("user", word))
        assert texts(self.conversation) == [*before, word]

    @rule(data=st.data())
    def say_instead(self, data: st.DataObject) -> None:
        turns = texts(self.conversation)
        if turns:
            place = data.draw(st.integers(0, len(turns) - 1))
            self.conversation = self.conversation.cut_before(place)
            assert texts(self.conversation) == turns[:place]
            self.say()
            assert self.conversation.variant(place)[0] == self.conversation.variant(place)[1] > 1

    @rule(data=st.data())
    def choose(self, data: st.DataObject) -> None:
        turns = texts(self.conversation)
        if turns:
            place = data.draw(st.integers(0, len(turns) - 1))
            number = data.draw(st.integers(1, self.conversation.variant(place)[1]))
            self.conversation = self.conversation.choose(place, number)
            assert texts(self.conversation)[:place] == turns[:place]
            assert self.conversation.variant(place)[0] == number

    @invariant()
    def nothing_is_lost(self) -> None:
        assert [turn.text for turn in self.conversation.said] == self.said
        path = texts(self.conversation)
        assert path == sorted(path, key=int)


TestChatting = Chatting.TestCase


@given(st.integers(0, 3), st.text())
def test_a_turn_is_replaced_where_it_stands(place: int, word: str) -> None:
    conversation = chat("a?", "1", "b?", "2")
    changed = conversation.with_turn(place, Turn("user", word))
    expected = ["a?", "1", "b?", "2"]
    expected[place] = word
    assert texts(changed) == expected
