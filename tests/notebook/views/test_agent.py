import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, agent_state, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")


def test_the_form_holds_the_agent_and_sends_what_was_changed(page: Page) -> None:
    mount(page, "agent", agent_state())
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("support")
    expect(page.get_by_label("contracts")).to_be_checked()
    page.get_by_label("Instructions").fill("Be brief.")
    page.get_by_label("Temperature").fill("")
    page.get_by_label("handbook").check()
    page.get_by_role("button", name="Save").click()
    assert sent(page, "save")[0]["args"] == {
        "agent": "a1",
        "fields": {
            "name": "support",
            "model": "smollm2",
            "description": "",
            "instructions": "Be brief.",
            "temperature": None,
            "libraries": ["l1", "l2"],
        },
    }
    kernel(page, "answer", "save", {})
    expect(page.get_by_role("grid", name="Versions")).to_be_visible()


def test_a_refused_form_stays_as_it_was(page: Page) -> None:
    mount(page, "agent", agent_state())
    page.get_by_role("button", name="New…").click()
    page.get_by_label("Name", exact=True).fill("minutes")
    page.get_by_role("button", name="Save").click()
    problem = {"title": "The service did not accept this", "detail": "model", "advice": None}
    kernel(page, "answer", "save", {"kind": "error", "problem": problem})
    expect(page.locator(".carrel-problem")).to_contain_text("did not accept")
    expect(page.get_by_label("Name", exact=True)).to_have_value("minutes")
    assert sent(page, "save")[0]["args"]["agent"] is None


def test_a_difference_has_signs_not_only_colours(page: Page) -> None:
    spans = [{"text": "Answer ", "change": "same"}, {"text": EVIL, "change": "added"}]
    lines = [{"change": "added", "sign": "+", "spans": spans}]
    diff = [
        {"field": "instructions", "words": "1 of 1 lines", "lines": lines},
        {"field": "temperature", "words": "0.7 → 0.3", "lines": []},
    ]
    mount(page, "agent", agent_state(diff=diff, diff_title="v0 → v1 · 2 changes"))
    expect(page.locator(".carrel-diff .line")).to_have_text(f"+ Answer {EVIL}")
    expect(page.locator(".carrel-diff ins")).to_have_text(EVIL)
    expect(page.locator(".carrel-diff")).to_contain_text("0.7 → 0.3")


def test_making_a_version_active_asks_first(page: Page) -> None:
    mount(page, "agent", agent_state())
    page.get_by_role("row", name="v0").click()
    page.keyboard.press("Shift+A")
    page.get_by_role("alertdialog").get_by_role("button", name="Make active").click()
    assert sent(page, "make_active")[0]["args"] == {"version": 0}


def test_enter_sends_the_form_and_breaks_a_line_only_in_the_long_field(page: Page) -> None:
    mount(page, "agent", agent_state())
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Instructions").fill("One.")
    page.keyboard.press("Enter")
    page.keyboard.type("Two.")
    page.get_by_label("Name", exact=True).press("Enter")
    assert sent(page, "save")[0]["args"]["fields"]["instructions"] == "One.\nTwo."
