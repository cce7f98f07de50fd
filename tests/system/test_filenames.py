"""Names that others gave, as names of files on this machine."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.system.filenames import LONGEST, file_name, free


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("lease 2024.pdf", "lease 2024.pdf"),
        ("../../.bashrc", "bashrc"),
        ("..\\up.txt", "up.txt"),
        ("a\x00b\n:c?.txt", "ab c.txt"),
        ("/", "else"),
        ("..", "else"),
        ("é" * 300 + ".pdf", "é" * 98 + ".pdf"),
    ],
)
def test_a_name(name: str, safe: str) -> None:
    assert file_name(name, "else") == safe


@given(st.text(), st.sampled_from([20, LONGEST]))
def test_any_name_is_one_of_a_file_in_its_folder(name: str, longest: int) -> None:
    safe = file_name(name, "else", longest)
    assert Path("folder", safe).parts == ("folder", safe)
    assert not safe.startswith(".") and safe not in ("", "..")
    assert len(safe.encode()) <= longest
    assert file_name(safe, "else", longest) == safe


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    assert free(tmp_path / "a.txt") == tmp_path / "a.txt"
    (tmp_path / "a.txt").touch()
    (tmp_path / "a 2.txt").touch()
    assert free(tmp_path / "a.txt") == tmp_path / "a 3.txt"
