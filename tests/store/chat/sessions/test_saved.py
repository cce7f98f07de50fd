import json
from pathlib import Path

import pytest

from carrel.store.chat.conversation import Attachment, Conversation, Turn
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.sessions.saved import TITLE_LENGTH, ChatSession, SavedSessions
from carrel.store.tools.state import AgentCall
from carrel.wire.generation.completions import Passage

SOURCE = Passage(
    index=1, library_id="l", document_id="d", document_name="a [/b].pdf", page=3, snippet="«x»"
)


def session(
    session_id: str = "one", *, updated: float = 1.0, question: str = "Why?"
) -> ChatSession:
    attached = Attachment("document", "d", "a b.pdf", "l")
    conversation = Conversation.of(
        Turn("user", question, attachments=(attached,)),
        Turn("assistant", "Because.", "stopped", (SOURCE,), 2, 0.4, 31.0, 120, 7),
    )
    called = Turn("assistant", "", calls=(AgentCall("123456789", "why", "{}"),), searches=True)
    conversation = conversation.cut_before(1).add(called)
    conversation = conversation.add(Turn("tool", "so", call_id="123456789"))
    parameters = Parameters(temperature=0.2, stop=("END",))
    return ChatSession(session_id, "agent", "support", updated, conversation, 3, parameters)


def test_a_session_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session())
    assert SavedSessions(tmp_path, "local").load("one") == session()


def test_sessions_are_listed_newest_first_and_apart_by_profile(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    for session_id, updated in (("old", 1.0), ("new", 3.0), ("between", 2.0)):
        saved.save(session(session_id, updated=updated))
    assert [session.id for session in saved.all()] == ["new", "between", "old"]
    assert SavedSessions(tmp_path, "work").all() == ()


def test_an_older_form_that_is_written_last_changes_nothing(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    assert saved.save(session(updated=2.0, question="New?"))
    assert not saved.save(session(updated=1.0, question="Old?"))
    assert saved.load("one").title == "New?"


def test_what_was_deleted_is_not_saved_again(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session())
    saved.delete("one")
    assert not saved.save(session(updated=2.0))
    assert saved.all() == ()


def test_a_session_saved_without_variants_is_read_in_its_order(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    turns = [{"role": "user", "text": "Why?", "sources": []}]
    turns.append({"role": "assistant", "text": "Because.", "sources": []})
    saved.save(session())
    (path,) = tmp_path.rglob("*.json")
    fields = {"id": "one", "agent_id": "agent", "agent_name": "support", "updated": 1}
    path.write_text(json.dumps({"format": 1, "turns": turns, **fields}))
    read = saved.load("one").conversation
    assert [turn.text for turn in read.turns] == ["Why?", "Because."]


@pytest.mark.parametrize("change", [{"last": 7}, {"last": -2}, {"after": 0}])
def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path, change: dict[str, int]) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session())
    (path,) = tmp_path.rglob("*.json")
    data = json.loads(path.read_text())
    (data["turns"][0] if "after" in change else data).update(change)
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError):
        saved.load("one")


def test_a_session_is_found_by_anything_said_in_it() -> None:
    assert session().matches("because")  # in a variant that is not shown
    assert session().matches("SUPPORT")
    assert not session().matches("rent")


def test_damaged_files_are_left_out_of_the_list_and_refused(tmp_path: Path) -> None:
    saved = SavedSessions(tmp_path, "local")
    saved.save(session("good"))
    saved.save(session("bad"))
    (path,) = tmp_path.rglob("bad.json")
    for content in ("{", "[]", '{"format": 1}', '{"format": 99}', path.read_text()[:-40]):
        path.write_text(content)
        assert [session.id for session in saved.all()] == ["good"]
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
    assert saved.all() == ()


def test_the_title_is_the_question_in_one_short_line(tmp_path: Path) -> None:
    assert session(question="What is\n the rent?").title == "What is the rent?"
    assert len(session(question="word " * 100).title) == TITLE_LENGTH
