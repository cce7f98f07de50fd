from pathlib import Path

import pytest

from carrel.store.chats import TITLE_LENGTH, SavedSessions, Session, Turn
from carrel.wire.completions import Passage

SOURCE = Passage(
    index=1, library_id="l", document_id="d", document_name="a [/b].pdf", page=3, snippet="«x»"
)


def session(session_id: str = "one", *, updated: float = 1.0, question: str = "Why?") -> Session:
    turns = (
        Turn("user", question),
        Turn("assistant", "Because.", "stopped", (SOURCE,), 2, 0.4, 31.0, 120, 7),
    )
    return Session(session_id, "agent", "support", updated, turns)


def test_a_session_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session())
    assert SavedSessions(tmp_path, "local").load("one") == session()


def test_sessions_are_listed_newest_first_and_apart_by_profile(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    for session_id, updated in (("old", 1.0), ("new", 3.0), ("between", 2.0)):
        saved.save(session(session_id, updated=updated))
    assert [summary.id for summary in saved.summaries()] == ["new", "between", "old"]
    assert SavedSessions(tmp_path, "work").summaries() == ()


def test_damaged_files_are_left_out_of_the_list_and_refused(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session("good"))
    saved.save(session("bad"))
    (path,) = tmp_path.rglob("bad.json")
    for content in ("{", "[]", '{"format": 1}', '{"format": 99}', path.read_text()[:-40]):
        path.write_text(content)
        assert [summary.id for summary in saved.summaries()] == ["good"]
        with pytest.raises(ValueError):
            saved.load("bad")


def test_only_the_owner_can_read_them(tmp_path: Path) -> None:
    SavedSessions(tmp_path, "local").save(session())
    (path,) = tmp_path.rglob("*.json")
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_saving_replaces_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session(question="First?"))
    saved.save(session(question="Second?"))
    assert saved.load("one").title == "Second?"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["one.json"]


def test_names_do_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path / "state", "../../profile")
    saved.save(session("../../session"))
    assert all(path.is_relative_to(tmp_path / "state") for path in tmp_path.rglob("*.json"))
    assert saved.load("../../session").id == "../../session"


def test_deleting_twice_is_no_failure(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session())
    saved.delete("one")
    saved.delete("one")
    assert saved.summaries() == ()


def test_the_title_is_the_question_in_one_short_line(tmp_path: Path) -> None:
    assert session(question="What is\n the rent?").title == "What is the rent?"
    assert len(session(question="word " * 100).title) == TITLE_LENGTH
