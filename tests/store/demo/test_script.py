"""The file of a demo: what is refused, with its line."""

from pathlib import Path

import pytest

from carrel import samples
from carrel.store.demo.script import load_demo
from carrel.yamlfile import FileError

WHOLE = """\
title: Leases
needs:
  libraries:
  - name: leases
    documents: [lease.txt]
  agents:
  - name: clerk
    libraries: [leases]
steps:
- say: Hello.
- type: How long?
  pace: each key
  press: [enter]
  wait: answer finished
  limit: 5
  recorded: Three months.
"""


def write(folder: Path, text: str) -> Path:
    (folder / "lease.txt").write_text("Three months.")
    path = folder / "demo.yaml"
    path.write_text(text)
    return path


def test_steps_without_words_are_listed_by_what_they_show(tmp_path: Path) -> None:
    shows = "steps:\n- show: {chat: clerk}\n- show: {hit: 1}\n- wait: answer finished\n"
    demo = load_demo(write(tmp_path, WHOLE.partition("steps:")[0] + shows))
    assert [step.summary for step in demo.steps] == ["chat clerk", "hit 1", "wait"]


def test_a_demo_is_read(tmp_path: Path) -> None:
    demo = load_demo(write(tmp_path, WHOLE))
    assert demo.needs.agents[0].libraries == ["leases"]
    assert [step.wait for step in demo.steps] == [None, "answer finished"]


def test_the_demo_that_ships_is_one() -> None:
    assert load_demo(samples.demo()).steps


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("title: Leases\n", "", 1, "title is missing"),
        ("lease.txt", "other.txt", 5, "There is no file"),
        ("libraries: [leases]", "libraries: [lease]", 8, "not one of the libraries above"),
        ("libraries: [leases]", "handoffs: [judge]", 8, "not one of the agents above"),
        (
            "libraries: [leases]",
            "tools: [{type: document_library, library_ids: [lease]}]",
            8,
            "not one of the libraries above",
        ),
        ("- say: Hello.", "- speak: Hello.", 10, "not known here"),
        ("- say: Hello.", "- {}", 10, "one of say, show, search, ask, type, press and wait"),
        ("How long?", '"How\\nlong?"', 11, "One line of text"),
        ("each key", "slowly", 12, "human"),
        ("[enter]", "[entr]", 13, "“entr” is not a key"),
        ("[enter]", "[f8]", 13, "“f8” is not a key"),
        ("answer finished", "answer", 14, "answer finished"),
        ("limit: 5", "limit: -5", 15, "greater than 0"),
        ("- say: Hello.", "- say: Hello.\n  limit: 5", 10, "limit belongs to a wait"),
        (
            "- say: Hello.",
            "- say: Hello.\n  pace: human",
            10,
            "pace belongs to a search, an ask or a type",
        ),
        ("- say: Hello.", "- show: {library: leases, page: 1}", 10, "One of library, agent"),
        ("- say: Hello.", "- show: {hit: 0}", 10, "greater than or equal to 1"),
        ("- say: Hello.", "- show: {chat: judge}", 10, "“judge” is not one of the agents above"),
        ("- say: Hello.", "- show: {library: lease}", 10, "not one of the libraries above"),
        ("- say: Hello.", "- ask: How long?\n  press: [enter]", 10, "is another step"),
        (WHOLE.partition("steps:")[2], " []\n", 9, "at least 1 item"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    path = write(tmp_path, WHOLE.replace(old, new, 1))
    with pytest.raises(FileError) as refused:
        load_demo(path)
    assert (refused.value.path, refused.value.line) == (path, line)
    assert words in refused.value.reason


def test_a_name_belongs_to_one(tmp_path: Path) -> None:
    twice = WHOLE.replace("  - name: clerk\n", "  - name: clerk\n  - name: clerk\n", 1)
    with pytest.raises(FileError, match=r"line 8: .*another agent"):
        load_demo(write(tmp_path, twice))
