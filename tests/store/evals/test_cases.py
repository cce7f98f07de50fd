"""Files of test cases: read, refused with their line, added to."""

from pathlib import Path

import pytest

from carrel.store.evals.cases import Case, add_case, load_set
from carrel.yamlfile import FileError


def written(folder: Path, text: str, name: str = "set.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_and_jsonl_hold_the_same_cases(tmp_path: Path) -> None:
    yaml = load_set(
        written(tmp_path, "cases:\n- question: Why?\n  checks:\n  - number: 3\n  - source: a.pdf\n")
    )
    line = '{"question": "Why?", "checks": [{"number": 3}, {"source": "a.pdf"}]}\n'
    lines = load_set(written(tmp_path, line, "set.jsonl"))
    assert yaml == lines
    assert yaml.hash == lines.hash


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", None, "Expected “cases:”"),
        ("name: s\n", 1, "cases is missing."),
        ("cases: []\n", 1, "cases: List should have at least 1 item"),
        ("cases:\n- qestion: a\n", 2, "cases.0.qestion: did you mean question?"),
        ("cases:\n- question: a\n  checks:\n  - contain: b\n", 4, "did you mean contains?"),
        ("cases:\n- question: a\n  checks:\n  - {}\n", 4, "A check is exactly one of contains,"),
        (
            "cases:\n- question: a\n  checks:\n  - contains: b\n    regex: c\n",
            4,
            "A check is exactly one of",
        ),
        (
            "cases:\n- question: a\n  checks:\n  - regex: '['\n",
            4,
            "cases.0.checks.0.regex: This is not a regular expression: unterminated character set",
        ),
        (
            "cases:\n- question: a\n  checks:\n  - json_schema: {type: nothing}\n",
            4,
            "This is not a JSON schema",
        ),
        (
            "cases:\n- question: a\n  checks:\n  - similar: {to: b}\n",
            4,
            "Give at_least or at_most",
        ),
        ("cases:\n- question: a\n- question: a\n", 3, "The case “a” occurs twice"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    tmp_path: Path, text: str, line: int | None, reason: str
) -> None:
    with pytest.raises(FileError) as error:
        load_set(written(tmp_path, text))
    assert error.value.line == line
    assert reason in str(error.value)


def test_a_line_of_jsonl_is_named_too(tmp_path: Path) -> None:
    path = written(tmp_path, '{"question": "a"}\n{"question": "b", "check": []}\n', "set.jsonl")
    with pytest.raises(FileError, match="line 2: check: did you mean checks"):
        load_set(path)
    with pytest.raises(FileError, match="line 2: The case “a” occurs twice"):
        load_set(written(tmp_path, '{"question": "a"}\n{"question": "a"}\n', "twice.jsonl"))


@pytest.mark.parametrize("name", ["new/set.yaml", "new/set.jsonl"])
def test_a_case_is_added_at_the_end(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    first = Case.model_validate({"question": "Why?\nReally?", "checks": [{"contains": "yes"}]})
    second = Case.model_validate({"question": "When?", "note": "It was wrong."})
    add_case(path, first)
    add_case(path, second)
    assert load_set(path).cases == (first, second)
    with pytest.raises(FileError, match="already exists"):
        add_case(path, second)


@pytest.mark.parametrize(
    "text",
    [
        "# Ours.\nname: s\ncases:\n  # the first\n  - question: Why?  # not why not\n",
        "cases:\n- question: Why?",
    ],
)
def test_what_is_in_a_file_stays_as_it_is(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    add_case(path, Case(question="When?"))
    assert path.read_text().startswith(text)
    assert [one.question for one in load_set(path).cases] == ["Why?", "When?"]


def test_a_set_that_is_malformed_is_not_added_to(tmp_path: Path) -> None:
    path = written(tmp_path, "cases:\n- question: [\n")
    with pytest.raises(FileError):
        add_case(path, Case(question="When?"))
    assert path.read_text() == "cases:\n- question: [\n"
