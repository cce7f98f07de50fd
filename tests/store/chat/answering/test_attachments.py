from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.chat.answering.attachments import as_mention, local_path, mentions


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Compare @lease.pdf with @annex.docx", ("lease.pdf", "annex.docx")),
        ('See @"scan of 3 May.png" and @"scan of 3 May.png"', ("scan of 3 May.png",)),
        ("Write to me@example.org", ()),
        ("An @ alone", ()),
    ],
)
def test_what_stands_after_an_at_sign_is_a_name(text: str, names: tuple[str, ...]) -> None:
    assert mentions(text) == names


@given(st.text(st.characters(exclude_characters='"\n', exclude_categories=["C"]), min_size=1))
def test_a_name_is_found_as_it_was_written(name: str) -> None:
    assert mentions(f"See {as_mention(name)} there") == (name,)


def test_only_a_path_with_a_folder_leads_to_a_file_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    assert local_path(str(tmp_path / "a.txt")) == tmp_path / "a.txt"
    assert local_path("./a.txt") == Path("a.txt")
    assert local_path("a.txt") is None
    assert local_path(str(tmp_path)) is None
    assert local_path("~nobody-here/a.txt") is None
