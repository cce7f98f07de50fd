import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.core.problem import ProblemError
from carrel.store.libraries.attributes import from_text, to_text

VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)


@given(st.dictionaries(st.text(min_size=1), VALUES | st.lists(VALUES)))
def test_what_is_written_is_read_again(attributes: dict[str, object]) -> None:
    text = to_text(attributes)
    assert from_text(text) == attributes
    assert len(text.split("\n")) == max(len(attributes), 1)


def test_plain_text_needs_no_quotes() -> None:
    assert from_text('shelf : north wing: 2\n\nyear: 2024\nread: true\ncode: "007"') == {
        "shelf": "north wing: 2",
        "year": 2024,
        "read": True,
        "code": "007",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("year 2024", "Line 1 is not an attribute. Write a name, a colon"),
        ("a: 1\n: 2", "Line 2 is not an attribute. Write a name, a colon"),
        ("a: 1\na: 2", "Line 2 is not an attribute. “a” occurs twice."),
        ('"a: 1', "A quote is not closed."),
        ('a: {"b": 1}', "A value is text, a number, true, false, or a list of these."),
        ("a: null", "A value is text, a number"),
    ],
)
def test_what_is_no_attribute_is_told_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ProblemError) as caught:
        from_text(text)
    assert words in str(caught.value.problem)
