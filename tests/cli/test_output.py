"""What a person reads: tables, fields, sizes."""

import json
from datetime import UTC, datetime

import pytest

from carrel.cli import output


def test_a_pipe_gets_whole_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["NAME", "N"], [["東京.pdf", 1], ["a" * 300, None], ["e\u0301", 22]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].index("N", 4) == 302
    assert lines[1] == "東京.pdf" + " " * 294 + "1"
    assert lines[2] == "a" * 300 + "  –"
    assert lines[3] == "e\u0301" + " " * 301 + "22"


def test_a_terminal_gets_lines_that_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    output.table(["NAME"], [["x" * 19], ["x" * 20], ["x" * 21], ["東" * 11]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["x" * 19, "x" * 20, "x" * 19 + "…", "東" * 9 + "…"]


def test_a_narrow_terminal_takes_from_the_widest_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    output.table(["ID", "NAME", "SIZE"], [["i" * 36, "東" * 30, "1.2 MB"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "i" * 36 + "  " + "東" * 6 + "…   1.2 MB"


def test_a_cell_stays_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["NAME"], [["a\nb\tc\x1b[2Jd"]])
    assert capsys.readouterr().out == "NAME\na b c[2Jd\n"


def test_fields_without_a_value_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    output.fields([("id", "x"), ("long name", 0), ("gone", None), ("arguments", {"é": 1})])
    assert capsys.readouterr().out == 'id         x\nlong name  0\narguments  {"é": 1}\n'


def test_times_are_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 11, 20, 6, 40, tzinfo=UTC)
    assert output.local_time(int(moment.timestamp())) == output.local_time(moment)
    assert output.local_time(moment) == moment.astimezone().strftime("%Y-%m-%d %H:%M")
    assert output.local_time(None) == "–"


def test_progress_is_for_terminals_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.progress("Uploading") as report:
        report(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with output.progress("a\x1b]0;x\x07") as report:
        report(1, 2)
        report(2000, None)
    shown = capsys.readouterr().err
    assert "a]0;x 50 %" in shown
    assert "2.0 kB" in shown
    assert shown.endswith("\r\x1b[K")


def test_waiting_is_for_terminals_alone_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.show_waiting("Waiting …"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with output.show_waiting("Waiting …"):
        pass
    assert capsys.readouterr().err.split("\r\x1b[K") == ["", "Waiting …", ""]


def test_json_keeps_what_is_not_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    output.as_json([{"name": "Zürich"}])
    printed = capsys.readouterr().out
    assert "Zürich" in printed
    assert json.loads(printed) == [{"name": "Zürich"}]
