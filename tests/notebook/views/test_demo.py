"""The presenter's buttons and keys, and what the panel shows of a step."""

import pytest
from playwright.sync_api import Page, expect

from support.views import demo_state, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")


def test_steps_are_played_by_keys_while_the_panel_has_the_focus(page: Page) -> None:
    mount(page, "demo", demo_state())
    page.keyboard.press("F8")
    assert sent(page, "next") == []
    page.locator(".carrel").focus()
    page.keyboard.press("F8")
    page.keyboard.press("F7")
    page.keyboard.press("F9")  # there is nothing to pause
    assert [len(sent(page, name)) for name in ("next", "back", "pause")] == [1, 1, 0]
    kernel(page, "state", {"phase": "playing", "paused": True})
    expect(page.get_by_text("1 of 2 steps · Paused")).to_be_visible()
    page.keyboard.press("F9")
    assert len(sent(page, "pause")) == 1
    page.keyboard.press("F10")
    expect(page.get_by_label("Jump to a step")).to_be_focused()
    page.get_by_label("Jump to a step").select_option("2  How long?")
    assert [one["args"] for one in sent(page, "jump")] == [{"step": 1}]


def test_a_key_types_a_character_only_while_the_demo_awaits_one(page: Page) -> None:
    mount(page, "demo", demo_state())
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("x")
    assert sent(page, "key") == []
    kernel(page, "state", {"phase": "playing", "awaits_key": True})
    page.keyboard.press("x")
    page.keyboard.press("Shift")
    page.keyboard.press("F8")
    assert [len(sent(page, name)) for name in ("key", "next")] == [1, 1]


def test_a_failed_step_says_why_and_its_recorded_answer_is_marked(page: Page) -> None:
    mount(page, "demo", demo_state(phase="failed", trouble="✕ No finished answer within 60 s"))
    expect(page.get_by_role("alert")).to_have_text("✕ No finished answer within 60 s")
    expect(page.get_by_text("Recorded answer")).to_be_hidden()
    kernel(page, "state", {"phase": "recorded", "trouble": "", "recorded": "Three months."})
    expect(page.get_by_role("complementary")).to_have_text("⚑ Recorded answerThree months.")
    expect(page.locator(".carrel-failure")).to_be_hidden()


def test_a_text_counts_where_it_is_shown(page: Page) -> None:
    mount(page, "demo", demo_state(looks_for="panel anywidget:Document"))
    expect(page.get_by_text("panel anywidget:Chat")).to_be_visible()
    page.wait_for_timeout(300)
    assert sent(page, "seen") == []
    kernel(page, "state", {"place": "document"})
    page.wait_for_function("model.sent.some((one) => one.name === 'seen')")
    kernel(page, "state", {"place": "chat", "looks_for": ""})
    kernel(page, "state", {"looks_for": "The clerk knows"})  # the caption does not count
    page.wait_for_timeout(300)
    assert [one["args"]["text"] for one in sent(page, "seen")] == ["panel anywidget:Document"]


def test_the_tools_come_back_to_take_over_by_hand(page: Page) -> None:
    mount(page, "demo", demo_state())
    expect(page.get_by_role("navigation", name="Places")).to_be_hidden()
    page.get_by_role("button", name="Tools").click()
    page.get_by_role("button", name="Document").click()
    assert [one["args"] for one in sent(page, "go")] == [{"place": "document"}]
    page.evaluate("""() => document.querySelector('.carrel-nest').dispatchEvent(
      new CustomEvent('carrel:show', { bubbles: true, cancelable: true, detail: 'Chat' }))""")
    assert sent(page, "go")[-1]["args"] == {"place": "chat"}


def test_an_end_is_confirmed(page: Page) -> None:
    mount(page, "demo", demo_state())
    page.get_by_role("button", name="End").click()
    assert sent(page, "end") == []
    page.get_by_role("alertdialog").get_by_role("button", name="End").click()
    assert len(sent(page, "end")) == 1
