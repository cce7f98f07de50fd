from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.agents.agent_yaml import from_yaml, to_yaml
from carrel.store.agents.drafts import Draft
from carrel.yamlfile import YAMLError

START = Draft("a1", "a1", 0, {"name": "support", "model": "m", "instructions": "Be kind."})

letters = st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")
said = st.text(letters, min_size=1).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(letters),
    lambda child: st.lists(child) | st.dictionaries(st.text(letters), child),
    max_leaves=10,
)  # fmt: skip
drafts = st.builds(
    lambda name, about, instructions, temperature, metadata: Draft.blank("m").changed(
        name=name,
        description=about,
        instructions=instructions,
        completion_args={"temperature": temperature},
        tools=[{"type": "document_library", "library_ids": ["l1", "yes", "1"]}],
        metadata=metadata,
    ),
    said,
    said,
    said,
    st.floats(0, 1),
    st.dictionaries(st.text(letters), JSON, max_size=3),
)


@given(drafts)
def test_what_is_written_is_read_as_it_was(draft: Draft) -> None:
    assert from_yaml(to_yaml(draft, {"l1": "con\ntracts"}), draft) == draft


def test_lines_stay_lines_and_libraries_have_their_names() -> None:
    text = to_yaml(START.changed(instructions="Be kind.\n\nBe brief."), {"l1": "contracts"})
    assert "instructions: |-\n  Be kind.\n\n  Be brief.\n" in text
    assert "#   l1  contracts\n" in text
    assert "description: null" in text


def edited(text: str) -> Draft:
    return from_yaml(text, START)


def test_an_edit_is_taken_and_the_message_goes_with_it() -> None:
    draft = edited("version_message: shorter\nname: support\nmodel: m\ninstructions: Be brief.\n")
    assert draft.fields == {"name": "support", "model": "m", "instructions": "Be brief."}
    assert (draft.message, draft.agent_id, draft.base) == ("shorter", "a1", 0)


def test_a_field_that_is_gone_is_taken_away() -> None:
    assert edited("name: support\nmodel: m\n").fields == {"name": "support", "model": "m"}


def test_a_date_is_text() -> None:
    assert edited("name: support\nmodel: m\nmetadata: {day: 2026-01-01}\n").fields["metadata"] == {
        "day": "2026-01-01"
    }


def test_what_a_service_gave_is_not_checked_again() -> None:
    known = START.changed(tools=[{"type": "telepathy"}])
    assert from_yaml(to_yaml(known, {}), known) == known
    with pytest.raises(YAMLError, match="telepathy"):
        edited(to_yaml(known, {}))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "There is no agent here"),
        ("just words", 1, "There is no agent here"),
        ("name: support\nmodel: [m\n", 3, "This is not YAML"),
        ("name: support\n\tmodel: m\n", 2, "This is not YAML"),
        ("name: support\nmodel: \x07m\n", 2, "a character that YAML does not allow"),
        ("name: support\nmodel: m\nname: other\n", 3, "“name” occurs twice"),
        ("name: &a support\nmodel: *a\n", 2, "not referred to by"),
        ("name: support\nmodel: m\n1: x\n", 3, "A key has to be text"),
        ("name: support\nmodel: m\nmetadata: {a: !!binary aGk=}\n", 3, "A value may be"),
        ("name: support\nmodel: !!python/name:os.system m\n", 2, "A value may be"),
        ("name: support\n", 1, "model is missing"),
        ("name: support\nmodel: ''\n", 2, "model: This must not be empty"),
        ("name: 12\nmodel: m\n", 1, "name: Input should be a valid string"),
        ("name: support\nmodel: m\ninstruction: x\n", 3, "did you mean instructions?"),
        ("name: support\nmodel: m\nzzz: x\n", 3, "it is not known here"),
        (
            "name: support\nmodel: m\ncompletion_args:\n  top_p: 1\n  temperature: 2\n",
            5,
            "completion_args.temperature: Input should be less than or equal to 1",
        ),
        (
            "name: support\nmodel: m\ntools:\n- type: web_search\n- type: document_library\n",
            5,
            "library_ids is missing",
        ),
        ("name: s\nmodel: m\ntools:\n- type: telepathy\n", 4, "telepathy"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YAMLError) as error:
        edited(text)
    assert words in str(error.value)
    assert error.value.line == line


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_ends_otherwise_than_in_words(text: str) -> None:
    for written in (text, f"name: {text}\nmodel: m", f"name: a\nmodel: m\nmetadata:\n  {text}"):
        try:
            taken: Any = edited(written)
        except YAMLError as error:
            taken = error
        assert isinstance(taken, Draft | YAMLError)
