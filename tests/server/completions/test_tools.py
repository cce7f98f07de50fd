from typing import Any, Literal

import pytest

from carrel.server.completions.tools import toolbox
from carrel.server.errors import ApiError
from carrel.server.models.schemas.json_schema import fits
from carrel.wire.generation.tools import FunctionTool, NamedToolChoice


def function(name: str, **properties: Any) -> FunctionTool:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return FunctionTool.model_validate({"function": {"name": name, "parameters": parameters}})


def named(name: str) -> NamedToolChoice:
    return NamedToolChoice.model_validate({"function": {"name": name}})


ADD = function("add", a={"type": "integer"}, b={"type": "integer"})
LOOK = function("look", city={"type": "string"})


@pytest.mark.parametrize(
    ("choice", "names", "must_call"),
    [
        ("auto", ["add", "look"], False),
        ("none", [], False),
        ("any", ["add", "look"], True),
        ("required", ["add", "look"], True),
        (named("look"), ["look"], True),
    ],
)
def test_the_choice_decides_what_may_be_called(
    choice: Any, names: list[str], must_call: bool
) -> None:
    box = toolbox([ADD, LOOK], choice)
    assert [function.name for function in box.functions] == names
    assert box.must_call is must_call


@pytest.mark.parametrize(
    ("choice", "words"), [("any", "no tools to call"), (named("fly"), "'fly'")]
)
def test_a_call_that_is_not_possible_is_refused(
    choice: Literal["any"] | NamedToolChoice, words: str
) -> None:
    with pytest.raises(ApiError, match=words):
        toolbox([], choice)


def test_a_later_tool_replaces_one_of_the_same_name() -> None:
    box = toolbox([LOOK, function("look", street={"type": "string"})], "auto")
    assert [list(each.parameters["properties"]) for each in box.functions] == [["street"]]


def test_reads_a_call_and_nothing_else() -> None:
    box = toolbox([ADD, LOOK], "auto")
    call = box.read_call(' {"name": "add", "arguments": {"a": 1, "b": 2}} ')
    assert call is not None
    assert (call.function.name, call.function.arguments) == ("add", '{"a": 1, "b": 2}')
    assert len(call.id) == 9
    assert call.id.isalnum()
    for text in (
        "add 1 and 2",
        '{"name": "add", "arguments": {"a": 1}}',
        '{"name": "fly", "arguments": {}}',
        '{"name": "add"}',
        '["add"]',
        "{",
    ):
        assert box.read_call(text) is None, text


def test_the_schema_admits_exactly_the_calls() -> None:
    schema = toolbox([ADD, LOOK], "any").schema()
    assert fits({"name": "look", "arguments": {"city": "Lisbon"}}, schema)
    assert fits({"name": "add", "arguments": {"a": 1, "b": 2}}, schema)
    assert not fits({"name": "add", "arguments": {"city": "Lisbon"}}, schema)
    assert not fits({"name": "fly", "arguments": {}}, schema)
