"""Files of JSON lines are private, and a line that was cut spoils no other."""

from pathlib import Path

import pytest

from carrel.system.jsonl import append_line, read_lines

VALUES = [["a", 1], {"text": "line \u2028 of a poem"}, "a\nb", None]


def test_values_come_back_in_order_and_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines.jsonl"
    for value in VALUES:
        append_line(path, value)
    assert [*read_lines(path)] == VALUES
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_line_that_was_cut_spoils_only_itself(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "lines.jsonl"
    append_line(path, ["first", 1])
    append_line(path, ["second", 2])
    path.write_bytes(path.read_bytes()[:-cut])
    append_line(path, ["third", 3])
    assert [*read_lines(path)] == [["first", 1], ["third", 3]]


def test_a_file_that_is_missing_has_no_values(tmp_path: Path) -> None:
    assert [*read_lines(tmp_path / "lines.jsonl")] == []
