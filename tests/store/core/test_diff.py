from hypothesis import given
from hypothesis import strategies as st

from carrel.store.core.diff import DiffLine, DiffSpan, Hunk, compare_lines, hunks, side_by_side


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
    lines = compare_lines(text, text)
    assert {line.change for line in lines} == {"same"}
    assert hunks(lines) == ()


def applied(old: str, hunks: tuple[Hunk, ...]) -> str:
    """The old text with what the hunks say done to it. What they have of it must be there."""
    before, after = old.split("\n"), list[str]()
    for hunk in hunks:
        after += before[: hunk.skipped]
        del before[: hunk.skipped]
        for line in hunk.lines:
            if line.change != "added":
                assert before.pop(0) == line.text
            if line.change != "removed":
                after.append(line.text)
    return "\n".join(after + before)


# Lines of one letter, so that there are many, and many the same.
long_texts = st.lists(st.sampled_from("abcd"), max_size=40).map("\n".join)


@given(st.one_of(texts, long_texts), st.one_of(texts, long_texts), st.integers(0, 4))
def test_hunks_applied_to_the_old_text_give_the_new(old: str, new: str, context: int) -> None:
    lines = compare_lines(old, new)
    found = hunks(lines, context)
    assert applied(old, found) == new
    assert all(any(line.change != "same" for line in hunk.lines) for hunk in found)


@given(long_texts, long_texts)
def test_each_side_has_its_text_and_the_same_lines_beside_each_other(old: str, new: str) -> None:
    pairs = side_by_side(compare_lines(old, new))
    assert "\n".join(left.text for left, _ in pairs if left) == old
    assert "\n".join(right.text for _, right in pairs if right) == new
    for left, right in pairs:
        assert left or right
        assert left is right or "same" not in {side.change for side in (left, right) if side}


def test_instructions_differ_word_by_word() -> None:
    lines = compare_lines("Be kind.\nAnswer at length.", "Be kind.\nAnswer briefly.")
    assert lines[0] == DiffLine("same", (DiffSpan("Be kind.", "same"),))
    removed, added = lines[1:]
    assert [span.text for span in removed.spans if span.change == "removed"] == ["at length"]
    assert [span.text for span in added.spans if span.change == "added"] == ["briefly"]
