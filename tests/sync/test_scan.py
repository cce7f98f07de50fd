"""What is looked at in a folder, and what is left out."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from carrel.sync.errors import SyncError
from carrel.sync.rules import Rules, exclusion_reason
from carrel.sync.scan import scan
from support.folders import write


def found(folder: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> set[str]:
    return set(scan(folder, Rules.of(include, exclude)).files)


def test_files_by_their_path_with_size_and_time(folder: Path) -> None:
    path = write(folder / "2024" / "lease.pdf", b"%PDF")
    [(name, stat)] = scan(folder, Rules()).files.items()
    assert (name, stat.size) == ("2024/lease.pdf", 4)
    assert stat.mtime_ns == path.stat().st_mtime_ns


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".git", "~$report.docx", "notes.txt~", "#notes#", "film.mkv.part", "a.crdownload",
        "a.TMP", ".a.swp", "a.swp", "Thumbs.db", "desktop.ini", ".~lock.a.odt#", "x.download",
    ],
)  # fmt: skip
def test_hidden_and_temporary_names_are_left_out(folder: Path, name: str) -> None:
    assert exclusion_reason(name)
    write(folder / name, "x")
    write(folder / f"below/{name}/inside.txt", "x")
    assert found(folder) == set()


@pytest.mark.parametrize("name", ["a.txt", "part.txt", "tmp", "#1 hit.txt", "a.b.c", "~home.txt"])
def test_ordinary_names_are_not(name: str) -> None:
    assert not exclusion_reason(name)


def test_rule_files_hold_below_their_folder_and_the_nearest_wins(folder: Path) -> None:
    for name in ("a.log", "keep.log", "d/b.log", "d/c.txt", "d/e/b.log", "build/x", "top", "d/top"):
        write(folder / name, "x")
    write(folder / ".gitignore", "*.log\n/top\nbuild/\n")
    write(folder / ".carrelignore", "!keep.log\n")
    write(folder / "d" / ".gitignore", "# a note\n*.txt\n")
    write(folder / "d" / "e" / ".carrelignore", "!b.log\n")
    assert found(folder) == {"keep.log", "d/e/b.log", "d/top"}


def test_what_a_folder_holds_can_be_left_out_but_for_some(folder: Path) -> None:
    for name in ("d/a.txt", "d/keep.txt", "d/e/b.txt", "e/c.txt"):
        write(folder / name, "x")
    write(folder / ".gitignore", "d/**\n!d/keep*\n")
    assert found(folder) == {"d/keep.txt", "e/c.txt"}


def test_asked_patterns_win_over_rule_files(folder: Path) -> None:
    for name in ("a.pdf", "a.txt", "d/b.pdf", "d/b.txt", "old/c.pdf"):
        write(folder / name, "x")
    write(folder / ".carrelignore", "!*.txt\n!old/\n")
    assert found(folder, include=["*.pdf"]) == {"a.pdf", "d/b.pdf", "old/c.pdf"}
    assert found(folder, exclude=["*.txt", "old/"]) == {"a.pdf", "d/b.pdf"}
    assert found(folder, include=["d/", "a.txt"], exclude=["b.txt"]) == {"a.txt", "d/b.pdf"}


def test_what_is_no_pattern_says_nothing_in_a_rule_file(folder: Path) -> None:
    write(folder / ".gitignore", "!\n[a\n*.log\n")
    write(folder / ".carrelignore" / "a.txt", "x")
    for name in ("a.log", "a.txt"):
        write(folder / name, "x")
    assert found(folder) == {"a.txt"}


@pytest.mark.parametrize("pattern", ["!", "\\", "[a"])
def test_what_is_no_pattern_cannot_be_asked_for(pattern: str) -> None:
    with pytest.raises(SyncError, match="is not a pattern"):
        Rules.of(include=[pattern])
    with pytest.raises(SyncError, match="is not a pattern"):
        Rules.of(exclude=[pattern])


def test_links_and_empty_files_are_left_out(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "secret.txt", "x")
    write(folder / "here.txt", "x")
    write(folder / "empty.txt", "")
    (folder / "out").symlink_to(tmp_path / "elsewhere")
    (folder / "out.txt").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "broken").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe")
    assert found(folder) == {"here.txt"}


def test_what_cannot_be_looked_at_is_told_and_unknown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "shut" / "inside.txt", "x")
    write(folder / "open.txt", "x")
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if path.name == "shut":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)  # root may read everything
    seen = scan(folder, Rules())
    assert set(seen.files) == {"open.txt"}
    assert seen.problems == {"shut": "This folder cannot be read: Permission denied."}


def test_a_name_that_is_not_utf_8_is_told(folder: Path) -> None:
    name = os.fsencode(folder) + b"/caf\xe9.txt"
    os.close(os.open(name, os.O_CREAT))
    with open(name, "w") as file:  # noqa: PTH123 - such a name is no text
        file.write("x")
    seen = scan(folder, Rules())
    assert not seen.files
    assert [*seen.problems.values()] == ["Its name is not UTF-8. Rename it."]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SyncError, match="gone cannot be read: No such file"):
        scan(tmp_path / "gone", Rules())
