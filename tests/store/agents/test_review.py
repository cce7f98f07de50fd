from typing import cast

import pytest

from carrel.store.agents.drafts import Draft
from carrel.store.agents.review import review, review_switch
from carrel.store.core.problem import ProblemError
from carrel.store.session.service import SessionService
from carrel.wire.generation.agents import Agent


class Listing:
    """A session whose service lists one model."""

    def lists(self, model: str) -> bool:
        return model == "small"


SESSION = cast("SessionService", Listing())


def agent(**fields: object) -> Agent:
    return Agent.model_validate(
        {
            "id": "a1",
            "name": "support",
            "model": "small",
            "version": 2,
            "versions": [0, 1, 2],
            "created_at": "2026-11-01T00:00:00Z",
            "updated_at": "2026-11-01T00:00:00Z",
            "deployment_chat": False,
            "source": "api",
            "instructions": "Be kind.",
            **fields,
        }
    )


def test_a_draft_like_its_version_has_nothing_to_review() -> None:
    assert review(Draft.of(agent()), [agent()], {}, SESSION) is None


def test_a_change_is_shown_with_the_version_it_makes() -> None:
    changed = agent(instructions="Be brief.", model="other")
    found = review(Draft.of(changed), [agent()], {}, SESSION)
    assert found is not None and not found.is_new
    assert found.title == "Save this as support v3?"
    assert found.verb == "Save as v3"
    assert "other" in found.doubt
    assert [row.field for row in found.rows] == ["model", "instructions"]


def test_a_new_agent_is_made_and_warned_of_nothing() -> None:
    found = review(Draft.copy_of(agent()), [agent()], {}, SESSION)
    assert found is not None and found.is_new
    assert found.verb == "Create" and found.doubt == ""


def test_another_version_is_made_active_after_its_changes_are_shown() -> None:
    before = agent(version=1, instructions="Be brief.")
    found = review_switch(agent(), before, {})
    assert (found.title, found.verb) == ("Make v1 of support active?", "Make active")
    assert found.about == "v2 is active now. What changes:"
    assert [row.field for row in found.rows] == ["instructions"]
    back = review_switch(agent(), before, {}, back=True)
    assert (back.title, back.verb) == ("Roll support back to v1?", "Roll back")


def test_a_draft_without_a_name_cannot_be_sent() -> None:
    with pytest.raises(ProblemError):
        review(Draft.blank("small"), [agent()], {}, SESSION)
