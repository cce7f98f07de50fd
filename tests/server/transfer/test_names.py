"""File names from outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.transfer.names import safe_filename


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/some/dir/y.pdf", "y.pdf"),
        ("..\\w.txt", "w.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\scan.png", "scan.png"),
        ("folder/", "folder"),
        ("..", "file"),
        ("", "file"),
        ("\x1b\x07", "file"),
        ("a\x00b\r\nc.pdf", "abc.pdf"),
        ("invoice [final] \x1b]0;x\x07.pdf", "invoice [final] ]0;x.pdf"),
        ("履歴書.pdf", "履歴書.pdf"),
        ("e\u0301.txt", "é.txt"),
    ],
)
def test_a_name_is_its_last_part_without_control_characters(given: str, kept: str) -> None:
    assert safe_filename(given) == kept


@given(st.text(max_size=400))
def test_no_name_is_a_path_empty_or_too_long(name: str) -> None:
    kept = safe_filename(name)
    assert kept
    assert kept not in (".", "..")
    assert not set(kept) & set("/\\\x00\x1b\n\r")
    assert len(kept.encode()) <= 255


def test_a_long_name_keeps_its_extension() -> None:
    kept = safe_filename("ü" * 300 + ".pdf")
    assert kept.endswith("ü.pdf")
    assert 250 <= len(kept.encode()) <= 255
