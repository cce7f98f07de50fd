import shlex
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.tui.terminal.drops import MAX_LENGTH, Drop, parse_drop, parse_some

names = st.lists(
    st.text(
        st.characters(
            exclude_characters="/\0\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", codec="utf-8"
        ),
        min_size=1,
        max_size=20,
    ).filter(lambda name: name not in (".", "..") and name.strip() and len(name.encode()) < 200),
    min_size=1,
    max_size=4,
    unique=True,
)


def _backslashed(path: str) -> str:
    return "".join(f"\\{c}" if not (c.isalnum() or c in "/._-") else c for c in path)


def _double_quoted(path: str) -> str:
    escaped = "".join(f"\\{c}" if c in '"\\$`' else c for c in path)
    return f'"{escaped}"'


FORMS = {
    "a path a line": lambda paths: "\n".join(paths),
    "backslashes": lambda paths: " ".join(map(_backslashed, paths)),
    "single quotes": lambda paths: " ".join(map(shlex.quote, paths)),
    "double quotes": lambda paths: " ".join(map(_double_quoted, paths)),
    "file addresses": lambda paths: "\r\n".join(f"file://{quote(path)}" for path in paths),
    "stray NULs": lambda paths: "\0" + "\0\n".join(paths) + "\0",
    "a space at the end": lambda paths: " ".join(map(_backslashed, paths)) + " ",
}


@pytest.mark.parametrize("form", FORMS)
@given(names=names)
@settings(max_examples=40, deadline=None)
def test_whatever_form_a_terminal_uses_the_files_are_found(
    form: str, names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("drop")
    paths = [folder / name for name in names]
    for path in paths:
        path.write_bytes(b"")
    assert parse_drop(FORMS[form]([str(path) for path in paths])) == tuple(paths)


@given(st.text(max_size=300))
@settings(deadline=None)
def test_no_text_is_too_odd(text: str) -> None:
    for path in parse_drop(text, relative=True):
        assert path.is_file()


def test_text_that_names_one_file_and_something_else_is_text(tmp_path: Path) -> None:
    there = tmp_path / "there.pdf"
    there.touch()
    assert parse_drop(f"{there}\n{tmp_path / 'not there.pdf'}") == ()
    assert parse_drop(f"please read {there}") == ()


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert parse_drop(str(tmp_path)) == ()


def test_a_word_that_is_a_files_name_counts_only_outside_text_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").touch()
    assert parse_drop("notes") == ()
    assert parse_drop("notes", relative=True) == (Path("notes"),)


def test_home_is_understood(home: Path) -> None:
    (home / "my lease.pdf").touch()
    assert parse_drop("~/my lease.pdf") == (home / "my lease.pdf",)


def test_a_file_of_another_machine_is_not_taken(tmp_path: Path) -> None:
    there = tmp_path / "there.pdf"
    there.touch()
    assert parse_drop(f"file://elsewhere{there}") == ()


def test_endless_text_is_not_searched(tmp_path: Path) -> None:
    there = tmp_path / "there.pdf"
    there.touch()
    assert parse_drop("\n".join([str(there)] * (MAX_LENGTH // 10))) == ()


def test_the_good_ones_of_a_drop_are_taken_and_the_others_named(tmp_path: Path) -> None:
    there, gone, folder = tmp_path / "my lease.pdf", tmp_path / "gone.pdf", tmp_path / "papers"
    there.write_bytes(b"")
    folder.mkdir()
    dropped = [str(path) for path in (there, gone, folder)]
    for text in ("\n".join(dropped), shlex.join(dropped)):
        drop = parse_some(text)
        assert drop.files == (there,)
        assert drop.problem is not None
        assert f"{gone}: no such file" in drop.problem.detail
        assert f"{folder}: a folder" in drop.problem.detail
    assert parse_some(shlex.quote(str(there))) == Drop((there,))
    assert parse_some(f"{gone}\n{folder}") == Drop(())


def test_prose_that_mentions_a_file_is_no_drop(tmp_path: Path) -> None:
    there = tmp_path / "lease.pdf"
    there.write_bytes(b"")
    assert parse_some(f"please read {there}", relative=True) == Drop(())
    assert parse_some(f"{there}\nis the one to read") == Drop(())
