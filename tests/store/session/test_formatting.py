"""What the header and the status line say."""

from dataclasses import replace
from datetime import datetime

import pytest

from carrel.store.session import formatting as session
from carrel.store.session.state import Connection, SessionState

NOON = datetime(2026, 11, 23, 12).timestamp()


@pytest.mark.parametrize(
    ("connection", "hosted", "read_only", "words"),
    [
        ("ready", False, False, "local ● ready · smollm2 (test model)"),
        ("ready", True, True, "local ▲ hosted, read-only · smollm2 (test model)"),
        ("ready", False, True, "local ● ready, read-only · smollm2 (test model)"),
        ("starting", False, False, "local ◐ starting · smollm2 (test model)"),
        ("slow", False, False, "local ◐ slow · smollm2 (test model)"),
        ("lost", True, False, "local ○ lost · smollm2 (test model)"),
        ("failed", False, False, "local ✕ failed · smollm2 (test model)"),
    ],
)
def test_header(connection: Connection, hosted: bool, read_only: bool, words: str) -> None:
    state = SessionState(
        "local", hosted, read_only, connection=connection, model="smollm2 (test model)"
    )
    assert session.header(state) == words


def test_the_status_line_speaks_only_when_something_is_wrong() -> None:
    lost = SessionState("local", False, False, connection="lost", detail="no answer, retrying")
    assert session.status(lost, NOON) == "○ no answer, retrying"
    assert session.status(replace(lost, connection="ready"), NOON, as_of=NOON) == ""


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (27, "○ Offline: showing a copy from 11:59"),
        (300, "○ Offline: showing a copy from 11:55, 5 min ago"),
        (3 * 86400, "○ Offline: showing a copy from Fri 20 Nov, 12:00, 3 d ago"),
    ],
)
def test_a_copy_says_how_old_it_is(age: int, words: str) -> None:
    lost = SessionState("local", False, False, connection="lost")
    assert session.status(lost, NOON, as_of=NOON - age) == words
    # What was loaded before the connection was lost is as old as the last answer.
    assert session.status(replace(lost, since=NOON - age), NOON) == words
    failed = replace(lost, connection="failed", detail="It did not start")
    assert session.status(failed, NOON, as_of=NOON - age) == words.replace("○", "✕")
    assert session.status(failed, NOON) == "✕ It did not start"
