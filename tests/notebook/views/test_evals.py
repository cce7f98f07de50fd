"""The Evals panel's view: running a set, choosing runs, both answers to a case."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, evals_state, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")

PROGRESS = {"id": "run2", "name": "support v1", "words": "1 of 2", "percent": 50, "running": True}


def test_a_set_is_run_stopped_and_gone_on_with(page: Page) -> None:
    mount(page, "evals", evals_state())
    page.get_by_role("button", name="Run a set…").click()
    expect(page.get_by_label("Agent")).to_be_focused()
    page.get_by_label("Version").select_option("v0")
    page.get_by_label("Attempts per case").fill("6")
    page.get_by_role("button", name="Run", exact=True).click()
    asked = {"agent": "a", "version": 0, "file": "cases.yaml", "repeat": 6}
    assert sent(page, "run")[0]["args"] == asked
    refusal = {"title": "The file cannot be used", "detail": "line 2", "advice": None}
    kernel(page, "answer", "run", {"kind": "error", "problem": refusal})
    expect(page.get_by_role("alert").filter(has_text="line 2")).to_be_visible()
    expect(page.get_by_label("Version")).to_be_visible()  # to be mended
    page.get_by_role("button", name="Run", exact=True).click()
    kernel(page, "answer", "run", {})
    expect(page.get_by_label("Version")).to_be_hidden()
    kernel(page, "state", {"progress": PROGRESS})
    expect(page.get_by_role("button", name="Run a set…")).to_be_disabled()
    page.get_by_role("button", name="Stop support v1").click()
    assert sent(page, "cancel")[0]["args"] == {"id": "run2"}
    kernel(page, "state", {"progress": None, "resumable": True})
    page.get_by_role("button", name="Go on").click()
    assert sent(page, "resume")[0]["args"] == {"run": "run1"}


def test_a_row_opens_both_answers_beside_each_other(page: Page) -> None:
    mount(page, "evals", evals_state(baseline="run0"))
    page.get_by_role("row", name="rent").dblclick()
    assert sent(page, "answers")[-1]["args"] == {"case": "rent"}
    checks = [{"passed": False, "words": EVIL}]
    attempt: dict[str, Any] = {"title": "Attempt 1", "error": "", "html": "<p>It is 800.</p>"}
    attempt |= {"figures": "12 tokens", "checks": checks}
    failed = {**attempt, "error": EVIL, "html": "", "checks": []}
    sides = [{"title": "support v0", "attempts": [attempt]}, {"title": EVIL, "attempts": [failed]}]
    found = {"case": "rent", "question": EVIL, "sides": sides}
    kernel(page, "answer", "answers", {"result": found})
    answers = page.get_by_role("region", name="Answers")
    expect(answers.locator(".side").first).to_contain_text("It is 800.")
    expect(answers.locator("[data-role=failed]").last).to_have_text(EVIL)
    assert page.locator("img").count() == 0
    left, right = (answers.locator(".side").nth(number).bounding_box() for number in (0, 1))
    assert left and right and left["y"] == right["y"] and left["x"] < right["x"]
    page.keyboard.press("ArrowDown")  # the answers follow the cursor
    page.wait_for_function("model.sent.filter((one) => one.name === 'answers').length > 1")
    assert sent(page, "answers")[-1]["args"] == {"case": "notice"}
    answers.get_by_role("button", name="Close").click()
    expect(answers).to_be_hidden()


def test_runs_are_chosen_and_compared(page: Page) -> None:
    mount(page, "evals", evals_state())
    page.get_by_label("Compare with").select_option("run0")
    assert sent(page, "show")[-1]["args"] == {"run": "run1", "baseline": "run0"}
    page.get_by_label("Run", exact=True).select_option("run0")
    assert sent(page, "show")[-1]["args"] == {"run": "run0", "baseline": None}
    mount(page, "evals", evals_state(runs=[], shown=None, rows=[], said=[], agents=[]))
    page.get_by_role("button", name="Run a set…").last.click()
    expect(page.get_by_text("There is no agent yet")).to_be_visible()
