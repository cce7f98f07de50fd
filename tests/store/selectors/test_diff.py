from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from carrel.store.selectors.diff import DiffLine, FieldChange, Span, compare_agents, compare_lines
from carrel.wire.agents import Agent


def agent(**fields: Any) -> Agent:
    known = {
        "id": "a", "name": "support", "model": "large", "version": 0, "versions": [0],
        "created_at": datetime.now(UTC), "updated_at": datetime.now(UTC),
    }  # fmt: skip
    return Agent.model_validate({**known, **fields})


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[FieldChange]:
    return [each for each in compare_agents(agent(**old), agent(**new)) if each.change != "same"]


def side(lines: tuple[DiffLine, ...], other: str) -> str:
    return "\n".join(line.text for line in lines if line.change != other)


# Few letters, so that texts have much in common.
texts = st.text(alphabet="ab .\n\té", max_size=60)


@given(texts, texts)
def test_the_lines_give_both_texts_back(old: str, new: str) -> None:
    lines = compare_lines(old, new)
    assert side(lines, "added") == old
    assert side(lines, "removed") == new


@given(texts, texts)
def test_words_marked_the_same_are_the_same_on_both_sides(old: str, new: str) -> None:
    lines = compare_lines(old, new)

    def kept(change: str) -> str:
        spans = (span for line in lines if line.change == change for span in line.spans)
        return "".join(span.text for span in spans if span.change == "same")

    assert kept("removed") == kept("added")
    for line in lines:
        assert {span.change for span in line.spans} <= {"same", line.change}


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert {line.change for line in compare_lines(text, text)} == {"same"}


def test_instructions_differ_word_by_word() -> None:
    lines = compare_lines("Be kind.\nAnswer at length.", "Be kind.\nAnswer briefly.")
    assert lines[0] == DiffLine("same", (Span("Be kind.", "same"),))
    removed, added = lines[1:]
    assert [span.text for span in removed.spans if span.change == "removed"] == ["at length"]
    assert [span.text for span in added.spans if span.change == "added"] == ["briefly"]


def test_nothing_changed() -> None:
    assert changes({}, {}) == []


def test_a_model_and_an_argument_change_from_one_value_to_another() -> None:
    assert changes(
        {"model": "large", "completion_args": {"temperature": 0.7, "stop": "x"}},
        {"model": "small", "completion_args": {"temperature": 0.3, "max_tokens": 5}},
    ) == [
        FieldChange("model", "changed", "large", "small"),
        FieldChange("max_tokens", "added", None, "5"),
        FieldChange("stop", "removed", "x", None),
        FieldChange("temperature", "changed", "0.7", "0.3"),
    ]


def test_every_tool_counts_by_itself() -> None:
    library = {"type": "document_library", "library_ids": ["one"]}
    function = {"type": "function", "function": {"name": "f", "parameters": {}}}
    assert changes({"tools": [function]}, {"tools": [library, function]}) == [
        FieldChange("tools", "added", None, "document_library: one")
    ]
    (removed,) = changes({"tools": [function, library]}, {"tools": [library]})
    assert (removed.field, removed.change) == ("tools", "removed")
    assert removed.old is not None and '"name": "f"' in removed.old


def test_one_tool_of_two_alike_that_is_gone_counts() -> None:
    search = {"type": "web_search"}
    assert changes({"tools": [search, search]}, {"tools": [search]}) == [
        FieldChange("tools", "removed", "web_search", None)
    ]


def test_instructions_that_are_new_are_added() -> None:
    (change,) = changes({}, {"instructions": "Be kind."})
    assert (change.field, change.change) == ("instructions", "added")
    assert [line.text for line in change.lines if line.change == "added"] == ["Be kind."]


def test_cleared_fields_are_removed() -> None:
    old = {"description": "Helps.", "handoffs": ["b"], "metadata": {"k": 1}}
    assert {each.field: each.change for each in changes(old, {})} == dict.fromkeys(old, "removed")
