from pathlib import Path

import pytest

from carrel.tui.dialogs.core.path import complete


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "lease old").mkdir(parents=True)
    for name in ("lease-2024.pdf", "lease-2025.pdf", "Annex.docx", ".hidden"):
        (folder / name).touch()
    return folder


def test_what_is_certain_is_completed(folder: Path) -> None:
    found = complete(f"{folder}/lease-")
    assert found.text == f"{folder}/lease-202"
    assert found.matches == (f"{folder}/lease-2024.pdf", f"{folder}/lease-2025.pdf")


def test_folders_come_first_and_end_in_a_slash(folder: Path) -> None:
    assert complete(f"{folder}/l").matches[0] == f"{folder}/lease old/"


def test_case_does_not_matter_when_one_is_left(folder: Path) -> None:
    assert complete(f"{folder}/annex").text == f"{folder}/Annex.docx"


def test_hidden_names_show_once_a_dot_is_typed(folder: Path) -> None:
    assert not any(".hidden" in match for match in complete(f"{folder}/").matches)
    assert complete(f"{folder}/.h").matches == (f"{folder}/.hidden",)


def test_home_stays_as_it_was_typed(home: Path) -> None:
    (home / "lease.pdf").touch()
    assert complete("~/le").text == "~/lease.pdf"


@pytest.mark.parametrize("typed", ["/no/such/folder/x", "~nobody-of-that-name/x", "/etc/hosts/x"])
def test_where_there_is_nothing_the_text_stays(typed: str) -> None:
    assert complete(typed).text == typed
    assert complete(typed).matches == ()


def test_a_name_that_would_steer_the_terminal_is_not_offered(folder: Path) -> None:
    (folder / "lease \x1b]0;x\x07.pdf").touch()
    assert not any("\x1b" in match for match in complete(f"{folder}/lease").matches)


def test_files_of_another_kind_are_left_out_and_folders_stay(folder: Path) -> None:
    found = complete(f"{folder}/", lambda name: name.endswith(".docx"))
    assert found.matches == (f"{folder}/lease old/", f"{folder}/Annex.docx")
