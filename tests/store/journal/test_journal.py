"""The journal over real files: what it keeps, who may take it, and what a cut leaves."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.config.profiles import Profile, folders
from carrel.store.core.problem import Problem
from carrel.store.journal.entries import (
    Entry,
    Left,
    add_line,
    end_line,
    fail_line,
    read_lines,
)
from carrel.store.journal.journal import Journal

PROFILE = Profile("test")
KILLED = """
import os, signal
from carrel.config.profiles import Profile
from carrel.store.journal.entries import Entry
from carrel.store.journal.journal import Journal
journal = Journal(Profile("test"))
for number in range(100):
    journal.add(Entry(f"upload-{number}", "upload", f"{number}.md", task="upload", needs={"n": 1}))
for number in range(22):
    journal.end(f"upload-{number}")
os.kill(os.getpid(), signal.SIGKILL)
"""


def entry(id: str = "1", **fields: object) -> Entry:
    return Entry(id, "upload", f"{id}.md", task="upload", **fields)  # type: ignore[arg-type]


@pytest.fixture
def journal() -> Iterator[Journal]:
    journal = Journal(PROFILE)
    yield journal
    journal.close()


def names(left: Left) -> list[str]:
    return [each.name for each in left.entries]


def written() -> list[Path]:
    return [*(folders().state / "journal").rglob("*.*")]


def test_a_killed_process_leaves_what_it_had_not_done(journal: Journal) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED], check=False)
    assert ended.returncode == -9
    left = journal.take_over()
    assert names(left) == [f"{number}.md" for number in range(22, 100)]
    assert left.begun == {"upload": 100}
    assert left.entries[0].needs == {"n": 1}
    assert journal.take_over() == Left(), "each is taken over once"


def test_a_name_may_hold_line_separators(journal: Journal) -> None:
    other = Journal(PROFILE)
    other.add(entry("first\u2028second\x85third"))
    other.close()
    assert names(journal.take_over()) == ["first\u2028second\x85third.md"]


def test_what_runs_in_another_process_is_its_own(journal: Journal) -> None:
    other = Journal(PROFILE)
    other.add(entry())
    assert journal.take_over() == journal.look() == Left()
    other.close()
    assert names(journal.look()) == ["1.md"]
    assert names(journal.take_over()) == ["1.md"]


def test_what_was_taken_over_is_left_again(journal: Journal) -> None:
    first = Journal(PROFILE)
    first.add(entry())
    first.close()
    second = Journal(PROFILE)
    second.take_over()
    second.close()
    assert names(journal.take_over()) == ["1.md"]


def test_another_service_has_a_journal_of_its_own(journal: Journal) -> None:
    other = Journal(Profile("test", "http://127.0.0.1:1"))
    other.add(entry())
    other.close()
    assert journal.look() == Left()


def test_nothing_stays_of_work_that_is_done() -> None:
    journal = Journal(PROFILE)
    assert written() == [], "nothing is written before there is work"
    journal.add(entry("1"))
    journal.add(entry("2"), instead="1")
    journal.end("2")
    journal.close()
    assert written() == []


async def test_only_its_owner_may_read_it(journal: Journal) -> None:
    journal.add(entry())
    await journal.secure()
    assert {path.stat().st_mode & 0o077 for path in written() if path.suffix == ".jsonl"} == {0}


def test_a_failure_keeps_its_reason(journal: Journal) -> None:
    other = Journal(PROFILE)
    other.add(entry())
    other.fail("1", Problem("Too large", "The limit is 512 MB.", "Split it."))
    other.close()
    (left,) = journal.take_over().entries
    assert left.error == Problem("Too large", "The limit is 512 MB.", "Split it.")


async def test_a_disk_that_is_full_stops_no_work(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("carrel.store.journal.journal.lock_file", full)
    for number in range(3):
        journal.add(entry(str(number)))
        await journal.secure()
    assert [record.message for record in caplog.records if "journal" in record.message] != []


LINES = st.lists(
    st.one_of(
        st.builds(lambda n: ("add", n), st.integers(0, 5)),
        st.builds(lambda n: ("end", n), st.integers(0, 5)),
        st.builds(lambda n: ("fail", n), st.integers(0, 5)),
    ),
    max_size=30,
)


@given(LINES, st.integers(0, 2000))
def test_a_journal_cut_off_anywhere_reads_as_its_whole_lines(
    steps: list[tuple[str, int]], cut: int
) -> None:
    made = {
        "add": lambda n: add_line(entry(str(n))),
        "end": lambda n: end_line(str(n)),
        "fail": lambda n: fail_line(str(n), Problem("No", "")),
    }
    lines = [made[step](number) for step, number in steps]
    text = "".join(lines)[:cut]
    whole, length = [], 0
    for line in lines:
        length += len(line)
        if length <= cut:
            whole.append(line.strip())
    assert read_lines(text.splitlines()) == read_lines(whole)
