from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, agent_fields, agent_state, diff_rows, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")

BEGUN: dict[str, Any] = {"draft": "a1", "title": "Edit support", "fields": agent_fields()}
BEGUN |= {"starters": []}
BEGUN = {
    **BEGUN,
    "libraries": [{"id": "l1", "name": "handbook"}, {"id": "l2", "name": "contracts"}],
}
FOUND = {"title": "Save this as support v2?", "about": "v1 is active now.", "verb": "Save as v2"}
BEFORE = {"change": "removed", "sign": "−", "spans": [{"text": "at length", "change": "removed"}]}
AFTER = {
    "change": "added",
    "sign": "+",
    "spans": [{"text": "briefly ", "change": "same"}, {"text": EVIL, "change": "added"}],
}
ROWS = diff_rows(BEFORE, AFTER, pairs=[[0, 1]])
DRAFT = {"id": "draft", "marked": False}
DRAFT |= {"cells": ["draft", {"text": "✎ unsaved", "role": "busy"}, "now", "from v1"]}


def answer(page: Page, name: str, result: Any) -> None:
    kernel(page, "answer", name, {"result": result})


def begun(page: Page, **begun: Any) -> None:
    """The form, opened."""
    mount(page, "agent", agent_state())
    page.get_by_role("button", name="Edit").click()
    answer(page, "begin", {**BEGUN, **begun})


def test_the_form_holds_the_agent_and_shows_what_changes_before_it_is_saved(page: Page) -> None:
    begun(page)
    assert sent(page, "begin")[0]["args"] == {"start": "edit", "agent": "a1", "version": 1}
    expect(page.get_by_label("Name", exact=True)).to_have_value("support")
    expect(page.get_by_label("contracts")).to_be_checked()
    page.get_by_label("Instructions").fill("Be brief.")
    page.get_by_label("Temperature").fill("")
    page.get_by_label("handbook").check()
    expect(page.get_by_label("Connectors")).to_have_value("mail")
    page.get_by_label("Connectors").fill("mail, web_search")
    page.get_by_label("Version note (optional)").fill("shorter")
    page.get_by_role("button", name="Save…").click()
    fields = {"instructions": "Be brief.", "temperature": None, "message": "shorter"}
    assert sent(page, "review")[0]["args"] == {
        "draft": "a1",
        "fields": agent_fields(libraries=["l1", "l2"], connectors="mail, web_search", **fields),
    }
    answer(page, "review", {**FOUND, "rows": ROWS})
    review = page.get_by_role("alertdialog", name="What changes")
    expect(review).to_contain_text("Save this as support v2?")
    expect(review.locator("ins")).to_have_text(EVIL)
    expect(review.get_by_role("button", name="Save as v2")).to_be_focused()
    page.keyboard.press("Enter")
    assert sent(page, "save")[0]["args"] == {"draft": "a1"}
    answer(page, "save", None)
    expect(page.get_by_role("grid", name="Versions")).to_be_visible()


def test_what_is_typed_is_kept_without_being_saved(page: Page) -> None:
    begun(page)
    page.get_by_label("Instructions").fill("Be brief.")
    page.wait_for_function("model.sent.some((one) => one.name === 'keep')")
    kept = sent(page, "keep")[0]["args"]
    assert (kept["draft"], kept["fields"]["instructions"]) == ("a1", "Be brief.")
    assert sent(page, "save") == []


def test_the_form_lies_inside_a_narrow_panel(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 700})
    begun(page)
    for one in page.locator(".carrel-form :is(input, textarea, button)").filter(visible=True).all():
        room = one.bounding_box()
        assert room is not None and room["x"] + room["width"] <= 400, one
    # The long field keeps to its row where the form is scrolled.
    text = page.get_by_label("Instructions").bounding_box()
    below = page.get_by_label("handbook").bounding_box()
    assert text is not None and below is not None and text["y"] + text["height"] <= below["y"]


def test_nothing_changed_is_said(page: Page) -> None:
    begun(page)
    page.get_by_role("button", name="Save…").click()
    answer(page, "review", {"same": "Nothing changed. No version was made."})
    expect(page.locator(".carrel")).to_contain_text("Nothing changed")
    expect(page.get_by_role("grid", name="Versions")).to_be_visible()


def test_a_refused_form_stays_as_it_was(page: Page) -> None:
    begun(page, draft="new1", title="New agent", fields=agent_fields(name=""))
    page.get_by_label("Name", exact=True).fill("minutes")
    page.get_by_role("button", name="Save…").click()
    problem = {"title": "The service did not accept this", "detail": "model", "advice": None}
    kernel(page, "answer", "review", {"kind": "error", "problem": problem})
    expect(page.locator(".carrel-problem")).to_contain_text("did not accept")
    expect(page.get_by_label("Name", exact=True)).to_have_value("minutes")


def test_a_new_agent_is_made_at_once(page: Page) -> None:
    begun(page, draft="new1", title="New agent")
    page.get_by_role("button", name="Save…").click()
    answer(page, "review", {"title": "", "about": "", "rows": [], "verb": "Create"})
    page.wait_for_function("model.sent.some((one) => one.name === 'save')")
    assert sent(page, "save")[0]["args"] == {"draft": "new1"}


def test_a_new_agent_may_begin_like_a_starting_point(page: Page) -> None:
    starters = [{"id": "starter minutes", "name": "minutes", "about": "Turns notes into minutes"}]
    begun(page, draft="new1", title="New agent", fields=agent_fields(name=""), starters=starters)
    page.get_by_role("group", name="Starting points").get_by_role("button", name="minutes").click()
    assert sent(page, "begin")[-1]["args"]["start"] == "starter minutes"
    like = {"draft": "new2", "fields": agent_fields(name="minutes"), "starters": starters}
    answer(page, "begin", {**BEGUN, **like})
    expect(page.get_by_label("Name", exact=True)).to_have_value("minutes")
    expect(page.get_by_role("button", name="minutes")).to_have_attribute("aria-pressed", "true")


def test_a_model_that_may_not_answer_is_a_warning_before_saving(page: Page) -> None:
    begun(page, draft="new1", title="New agent")
    page.get_by_role("button", name="Save…").click()
    doubt = {"title": "Create support anyway?", "doubt": "There is no such model."}
    answer(page, "review", {**doubt, "about": "", "rows": [], "verb": "Create"})
    review = page.get_by_role("alertdialog", name="What changes")
    expect(review).to_contain_text("There is no such model.")
    assert sent(page, "save") == []
    review.get_by_role("button", name="Create").click()
    assert sent(page, "save")[0]["args"] == {"draft": "new1"}


def test_the_active_version_is_described_until_two_are_compared(page: Page) -> None:
    fields = {"field": "Instructions", "words": "Be kind.", "change": "", "depth": 0, "hunks": []}
    mount(page, "agent", agent_state(about={"title": "v1 · active", "rows": [fields]}))
    expect(page.get_by_role("heading", name="v1 · active")).to_be_visible()
    expect(page.locator(".carrel-diff").first).to_contain_text("Be kind.")
    diff = {"title": "v0 → v1 · 2 changes", "rows": ROWS}
    kernel(page, "state", agent_state(diff=diff))
    expect(page.locator(".carrel-diff").first).not_to_contain_text("Be kind.")


def test_a_difference_has_signs_not_only_colours(page: Page) -> None:
    diff = {"title": "v0 → v1 · 2 changes", "rows": ROWS}
    mount(page, "agent", agent_state(diff=diff))
    lines = page.locator(".carrel-diff .line")
    expect(lines).to_have_text(["− at length", f"+ briefly {EVIL}"])
    expect(page.locator(".carrel-diff ins")).to_have_text(EVIL)
    expect(page.locator(".carrel-diff").first).to_contain_text("⋯ 8 lines the same")
    expect(page.locator(".carrel-diff").first).to_contain_text("0.7 → 0.3")


def test_two_texts_stand_side_by_side(page: Page) -> None:
    diff = {"title": "v0 → v1 · 2 changes", "rows": ROWS}
    mount(page, "agent", agent_state(diff=diff))
    page.get_by_role("button", name="Side by side").click()
    left, right = page.locator(".carrel-diff .pair > .line").all()
    old, new = left.bounding_box(), right.bounding_box()
    assert old and new
    assert old["y"] == new["y"] and old["x"] + old["width"] <= new["x"]
    page.get_by_role("row", name="v0").click()
    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(page.locator("dt", has_text="temperature")).to_be_focused()
    page.keyboard.press("v")
    expect(page.locator(".carrel-diff .pair")).to_have_count(0)


def test_making_a_version_active_shows_what_changes_and_asks(page: Page) -> None:
    mount(page, "agent", agent_state())
    page.keyboard.press("Tab")
    page.get_by_role("row", name="v0").click()
    page.keyboard.press("Shift+A")
    assert sent(page, "preview")[0]["args"] == {"agent": "a1", "version": 0}
    answer(page, "preview", {"title": "Make v0 active?", "about": "What changes:", "rows": ROWS})
    review = page.get_by_role("alertdialog", name="What changes")
    expect(review).to_contain_text("0.7 → 0.3")
    page.keyboard.press("Escape")
    expect(review).to_be_hidden()
    expect(page.get_by_role("row", name="v0")).to_be_focused()
    assert sent(page, "make_active") == []
    page.keyboard.press("Shift+A")
    answer(page, "preview", {"title": "Make v0 active?", "about": "What changes:", "rows": ROWS})
    review.get_by_role("button", name="Make active").click()
    assert sent(page, "make_active")[0]["args"] == {"agent": "a1", "version": 0}


def test_rolling_back_shows_its_changes_first(page: Page) -> None:
    mount(page, "agent", agent_state())
    page.get_by_role("row", name="v1").click()
    page.keyboard.press("b")
    assert [one["args"] for one in sent(page, "preview_back")] == [{"agent": "a1"}]
    found = {"title": "Roll back to v0?", "about": "What changes:", "rows": ROWS, "version": 0}
    answer(page, "preview_back", found)
    assert sent(page, "roll_back") == []
    review = page.get_by_role("alertdialog", name="What changes")
    review.get_by_role("button", name="Roll back").click()
    assert [one["args"] for one in sent(page, "roll_back")] == [{"agent": "a1", "version": 0}]


def test_a_draft_is_a_row_with_its_changes_and_is_tried_or_dropped(page: Page) -> None:
    draft = {"title": "v1 → draft · 2 changes", "rows": ROWS}
    versions = [DRAFT, *agent_state()["versions"]]
    mount(page, "agent", agent_state(versions=versions, draft=draft))
    page.get_by_role("row", name="draft").click()
    expect(page.locator(".carrel-diff ins")).to_have_text(EVIL)
    page.keyboard.press("t")
    assert sent(page, "try")[0]["args"] == {"draft": "a1", "fields": None}
    page.get_by_role("row", name="draft").click()
    page.keyboard.press("Shift+D")
    page.get_by_role("alertdialog", name="Confirm").get_by_role("button", name="Discard").click()
    assert sent(page, "drop")[0]["args"] == {"draft": "a1"}
    page.get_by_role("row", name="v0").click()
    expect(page.locator(".carrel-diff ins")).to_have_count(0)


def test_a_draft_that_is_tried_stands_beside_the_active_version(page: Page) -> None:
    mount(page, "agent", agent_state())
    trial = {"draft": "a1", "title": "Draft of support", "panel": "anywidget:t"}
    kernel(page, "state", {"trial": trial})
    expect(page.get_by_role("heading", name="Draft of support")).to_be_visible()
    expect(page.get_by_text("panel anywidget:t")).to_be_visible()
    expect(page.get_by_role("grid", name="Versions")).to_be_hidden()
    kernel(page, "state", {"loading": True})
    page.get_by_role("button", name="Save…").click()
    assert sent(page, "review")[0]["args"] == {"draft": "a1", "fields": None}
    answer(page, "review", {**FOUND, "rows": ROWS})
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Edit").click()
    answer(page, "end_trial", None)
    kernel(page, "state", {"trial": None})
    assert sent(page, "begin")[0]["args"]["start"] == "a1"
    expect(page.get_by_text("panel anywidget:t")).to_have_count(0)
    kernel(page, "state", {"trial": {**trial, "panel": "anywidget:u"}})
    assert page.evaluate("children") == ["anywidget:t", "anywidget:u"]
    page.evaluate("controller.abort()")
    assert page.evaluate("model.listeners.length") == 0


def test_aliases_are_set_moved_and_removed(page: Page) -> None:
    aliases = [
        {"alias": "prod", "id": "1", "version": "v1"},
        {"alias": "old", "id": "0", "version": "v0"},
    ]
    mount(page, "agent", agent_state(aliases=aliases))
    page.get_by_role("row", name="v0").click()
    page.get_by_role("button", name="Move prod here (v1)").click()
    page.get_by_role("button", name="Remove old").click()
    page.get_by_label("Alias of the chosen version").fill("next")
    page.keyboard.press("Enter")
    assert [one["args"] for one in sent(page, "alias")] == [
        {"agent": "a1", "alias": "prod", "version": 0},
        {"agent": "a1", "alias": "old", "version": None},
        {"agent": "a1", "alias": "next", "version": 0},
    ]


def test_enter_sends_the_form_and_breaks_a_line_only_in_the_long_field(page: Page) -> None:
    begun(page)
    page.get_by_label("Instructions").fill("One.")
    page.keyboard.press("Enter")
    page.keyboard.type("Two.")
    page.get_by_label("Name", exact=True).press("Enter")
    assert sent(page, "review")[0]["args"]["fields"]["instructions"] == "One.\nTwo."
