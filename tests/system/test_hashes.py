"""SHA-256 of files, and names of files made of it."""

from pathlib import Path

from carrel.system.hashes import hashed_name, sha256

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_file_has_the_hash_that_other_programs_give(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert sha256(tmp_path / "empty") == EMPTY
    (tmp_path / "other").write_bytes(b"rent")
    assert sha256(tmp_path / "other") != EMPTY


def test_texts_that_no_file_could_be_called_have_names_of_their_own(tmp_path: Path) -> None:
    texts = ["", "a/b\0c", "a/b\0d", "x" * 10_000]
    folder = tmp_path / "named"
    folder.mkdir()
    for text in texts:
        (folder / hashed_name(text)).touch()
    assert len(list(folder.iterdir())) == len(texts)
