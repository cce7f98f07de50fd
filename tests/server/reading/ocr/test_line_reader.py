"""Where the words of a line stand, whatever ink is left of them."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.server.reading.ocr.decoding import Letter
from carrel.server.reading.ocr.line_reader import words_of

letters = st.lists(
    st.tuples(st.sampled_from("ab 1."), st.floats(0.1, 1), st.integers(1, 4)), max_size=12
)


@given(letters, st.lists(st.booleans(), min_size=60, max_size=60))
def test_no_word_ends_before_it_begins(
    drawn: list[tuple[str, float, int]], ink: list[bool]
) -> None:
    at, found = 0, list[Letter]()
    for text, sure, further in drawn:
        found.append(Letter(text, sure, at))
        at += further
    words = words_of(found, ink)
    assert [word.text for word in words] == "".join(text for text, _, _ in drawn).split()
    for word in words:
        assert 0 <= word.start <= word.end <= 1
