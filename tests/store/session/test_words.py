"""What the header and the status line say."""

import pytest

from carrel.store.session import words as session
from carrel.store.session.state import Connection, SessionState


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
    lost = SessionState(
        "local", False, False, connection="lost", detail="lost the server, retrying"
    )
    assert session.status(lost) == "○ lost the server, retrying"
    assert session.status(SessionState("local", False, False, connection="ready")) == ""
