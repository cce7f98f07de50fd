from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from carrel.store.agents.drafts import Draft, SavedDrafts
from carrel.store.core.problem import ProblemError
from carrel.wire.generation.agents import Agent

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIBRARY = {"type": "document_library", "library_ids": ["l1"]}


def agent(**fields: Any) -> Agent:
    values: dict[str, Any] = {"id": "a1", "name": "support", "model": "m", "version": 3}
    return Agent(**{**values, "versions": [3], "created_at": NOW, "updated_at": NOW, **fields})


def test_a_version_differs_in_nothing_from_itself() -> None:
    args = {"temperature": None, "tool_choice": "auto", "top_p": 0.5}
    old = agent(instructions="Be kind.", tools=[LIBRARY], completion_args=args)
    draft = Draft.of(old)
    assert (draft.id, draft.agent_id, draft.base) == ("a1", "a1", 3)
    assert not draft.differs_from(old)
    assert draft.update(old) is None


def test_only_what_differs_is_sent_with_the_message() -> None:
    old = agent(instructions="Be kind.", description="d", tools=[LIBRARY])
    draft = Draft.of(old).changed(instructions="Be brief.")
    change = draft.update(old)
    assert change is not None and change.body() == {"instructions": "Be brief."}
    change = replace(draft, message="shorter").update(old)
    assert change is not None and change.body()["version_message"] == "shorter"


@pytest.mark.parametrize(
    ("field", "value", "sent"),
    [
        ("description", "d", None),
        ("instructions", "Be kind.", None),
        ("tools", [LIBRARY], []),
        ("completion_args", {"temperature": 0.2}, {}),
        ("metadata", {"k": 1}, None),
        ("handoffs", ["b"], None),
        ("guardrails", [{"k": 1}], []),
    ],
)
def test_what_is_taken_away_is_cleared(field: str, value: Any, sent: Any) -> None:
    old = agent(**{field: value})
    draft = Draft.of(old).changed(**{field: None})
    change = draft.update(old)
    assert change is not None and change.body() == {field: sent}
    assert not Draft.of(draft.preview(old)).changed(name="x").fields.keys() & {field}


def test_an_argument_keeps_the_others() -> None:
    old = agent(completion_args={"temperature": 0.7, "max_tokens": 100})
    assert Draft.of(old).with_arguments(temperature=0.3).fields["completion_args"] == {
        "temperature": 0.3,
        "max_tokens": 100,
    }
    assert "completion_args" not in Draft.of(old).with_arguments(
        temperature=None, max_tokens=None
    ).fields  # fmt: skip


def test_another_library_keeps_the_other_tools() -> None:
    old = agent(tools=[LIBRARY, {"type": "web_search"}])
    draft = Draft.of(old)
    assert draft.libraries == ("l1",)
    assert draft.with_libraries(["l1"]) is draft
    assert draft.with_libraries(["l2"]).fields["tools"] == [
        {"type": "web_search"},
        {"type": "document_library", "library_ids": ["l2"]},
    ]
    assert draft.with_libraries([]).fields["tools"] == [{"type": "web_search"}]


def test_connectors_are_written_with_commas_and_keep_their_settings() -> None:
    mail = {"type": "connector", "connector_id": "mail", "tool_configuration": {"include": ["a"]}}
    draft = Draft.of(agent(tools=[LIBRARY, mail, {"type": "web_search"}]))
    assert draft.connectors == "mail, web_search"
    assert draft.with_connectors(draft.connectors) == draft
    assert draft.with_connectors(" tickets ,mail, tickets,").fields["tools"] == [
        LIBRARY,
        mail,
        {"type": "connector", "connector_id": "tickets"},
    ]
    searching = draft.with_connectors("").with_connectors("web_search")
    assert searching.fields["tools"] == [LIBRARY, {"type": "web_search"}]


def test_a_copy_is_a_new_agent() -> None:
    copy = Draft.copy_of(agent(instructions="Be kind.", tools=[LIBRARY]))
    assert (copy.agent_id, copy.name, copy.libraries) == (None, "support copy", ("l1",))
    assert copy.id != Draft.copy_of(agent()).id
    assert copy.create().body()["instructions"] == "Be kind."


def test_a_preview_is_the_agent_as_the_draft_has_it() -> None:
    old = agent(instructions="Be kind.", description="d", tools=[LIBRARY])
    seen = Draft.of(old).changed(description="", instructions="Be brief.").preview(old)
    assert (seen.description, seen.instructions, seen.tools) == (None, "Be brief.", [LIBRARY])
    assert seen.id == old.id


def test_a_preview_changes_nothing_else() -> None:
    args = {"temperature": 0.2, "top_p": None, "tool_choice": "auto"}
    old = agent(instructions="Be kind.", completion_args=args)
    assert Draft.of(old).preview(old) == old
    seen = Draft.of(old).with_arguments(temperature=0.3).preview(old)
    assert seen == old.model_copy(update={"completion_args": {**args, "temperature": 0.3}})


@pytest.mark.parametrize("missing", ["name", "model"])
def test_what_an_agent_needs_is_said(missing: str) -> None:
    draft = Draft.blank("m").changed(name="support").changed(**{missing: " "})
    with pytest.raises(ProblemError, match=f"needs a {missing}"):
        draft.create()


def test_what_no_service_would_take_is_said() -> None:
    draft = Draft.blank("m").changed(name="support").with_arguments(temperature=3)
    with pytest.raises(ProblemError) as error:
        draft.create()
    assert "completion_args.temperature" in error.value.problem.detail


def test_drafts_are_there_again_newest_first(tmp_path: Path) -> None:
    saved = SavedDrafts(tmp_path, "a/b")
    one = replace(Draft.of(agent(tools=[LIBRARY])), message="m", updated=1.0)
    two = replace(Draft.blank("m").changed(name="new"), updated=2.0)
    for draft in (one, two):
        saved.save(draft)
    assert SavedDrafts(tmp_path, "a/b").all() == (two, one)
    assert SavedDrafts(tmp_path, "other").all() == ()
    saved.delete(one.id)
    saved.delete(one.id)
    assert saved.all() == (two,)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 2}', '{"format": 1}'])
def test_a_damaged_file_is_left_alone(tmp_path: Path, text: str) -> None:
    saved = SavedDrafts(tmp_path, "p")
    saved.save(Draft.blank("m"))
    damaged = tmp_path / "drafts" / "p" / "damaged.json"
    damaged.write_text(text)
    assert len(saved.all()) == 1
    assert damaged.exists()


def test_drafts_are_for_their_owner_only(tmp_path: Path) -> None:
    saved = SavedDrafts(tmp_path, "p")
    saved.save(Draft.blank("m"))
    saved.editor_file("a1", "name: support\n", 0)
    for each in (tmp_path / "drafts" / "p").iterdir():
        assert each.stat().st_mode & 0o077 == 0


def test_what_an_editor_left_is_there_again_until_the_draft_is_newer_or_gone(
    tmp_path: Path,
) -> None:
    saved = SavedDrafts(tmp_path, "p")
    path = saved.editor_file("a1", "name: support", 0)
    path.write_text("name: [mended")
    left = path.stat().st_mtime
    saved.forget("a1")
    assert saved.editor_file("a1", "name: support", left - 1).read_text() == "name: [mended"
    assert saved.editor_file("a1", "name: other", left + 1).read_text() == "name: other"
    saved.delete("a1")
    assert not path.exists()
