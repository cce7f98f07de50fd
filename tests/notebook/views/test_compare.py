import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, compare_state, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")

STATE = compare_state("a", "b")


def test_the_chats_stand_side_by_side_under_one_field(page: Page) -> None:
    mount(page, "compare", STATE)
    left, right = (
        page.get_by_text(f"panel anywidget:{name}").bounding_box() for name in ("a", "b")
    )
    assert left and right
    assert abs(left["y"] - right["y"]) < 1 and abs(left["width"] - right["width"]) < 2
    assert right["x"] >= left["x"] + left["width"] - 1
    field = page.get_by_role("textbox", name="Message to all")
    field.fill("How long?")
    page.keyboard.press("Enter")
    assert sent(page, "send")[0]["args"] == {"text": "How long?"}
    kernel(page, "answer", "send", {})
    expect(field).to_have_value("")
    kernel(page, "state", {"busy": True, "begun": True})
    page.get_by_role("button", name="Stop").click()
    assert len(sent(page, "stop")) == 1
    kernel(page, "state", {"busy": False})
    page.get_by_role("button", name="Retry").click()
    assert len(sent(page, "retry")) == 1


def test_what_was_drawn_once_stays(page: Page) -> None:
    mount(page, "compare", STATE)
    kernel(page, "state", {"busy": True})
    kernel(page, "state", {"busy": False})
    assert page.evaluate("children") == ["anywidget:a", "anywidget:b"]


def test_answers_are_judged(page: Page) -> None:
    mount(page, "compare", STATE)
    votes = page.get_by_role("group", name="Best answer")
    expect(votes.get_by_role("button", name="support v1")).to_be_disabled()
    kernel(page, "state", {"answered": True, "hidden": True, "names": ["A", "B"], "blind": True})
    expect(page.get_by_role("button", name="Agents differ")).to_be_disabled()
    expect(page.get_by_role("button", name="Blind")).to_have_attribute("aria-pressed", "true")
    votes.get_by_role("button", name="B").click()
    votes.get_by_role("button", name="Tie").click()
    assert [one["args"] for one in sent(page, "vote")] == [{"place": 1}, {"place": None}]
    kernel(
        page,
        "state",
        {"hidden": False, "judged": "support v1 1", "names": ["support v1", "support v0"]},
    )
    expect(page.get_by_text("support v1 1")).to_be_visible()
    note = page.get_by_role("textbox", name="Note")
    note.fill("shorter")
    note.press("Enter")
    assert sent(page, "note")[0]["args"] == {"text": "shorter"}
    page.get_by_label("Go on with").select_option("1")
    assert sent(page, "go_on")[0]["args"] == {"place": 1}


def test_sides_stand_in_their_order(page: Page) -> None:
    mount(page, "compare", STATE)
    first, second = (
        {"id": n, "panel": f"anywidget:{p}", "place": 1 - n} for n, p in enumerate("ab")
    )
    kernel(page, "state", {"chats": [first, second]})
    left, right = (page.get_by_text(f"panel anywidget:{one}").bounding_box() for one in "ba")
    assert left and right and left["x"] < right["x"]
    kernel(
        page,
        "state",
        {"chats": [{**first, "place": 0}, {**second, "place": None}], "compared": False},
    )
    expect(page.get_by_text("panel anywidget:b")).to_be_hidden()
    expect(page.get_by_role("group", name="Best answer")).to_be_hidden()


def test_what_differs_is_shown(page: Page) -> None:
    mount(page, "compare", {**STATE, "answered": True})
    page.get_by_role("button", name="Answers differ").click()
    assert sent(page, "answers_differ")[0]["args"] == {"old": 0, "new": 1}
    line = {"change": "added", "sign": "+", "spans": [{"text": "Three.", "change": "added"}]}
    hunk = {"gap": "", "lines": [line], "pairs": [[None, 0]]}
    row = {"field": "answer", "words": "1 line", "change": "changed", "depth": 0, "hunks": [hunk]}
    found = {"title": "support v0 → support v1", "rows": [row]}
    kernel(page, "answer", "answers_differ", {"result": found})
    expect(page.get_by_text("support v0 → support v1")).to_be_visible()
    expect(page.get_by_text("Three.")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("Three.")).to_be_hidden()


def test_the_votes_of_all_comparisons_are_shown(page: Page) -> None:
    mount(page, "compare", compare_state("a", "b", answered=True))
    page.get_by_role("button", name="All votes").click()
    found = {"head": ["Answered by", "Won"], "rows": [[EVIL, "2"], ["support v1", "1"]]}
    kernel(page, "answer", "votes", {"result": found})
    votes = page.get_by_role("region", name="Votes of all comparisons")
    expect(votes.get_by_role("row")).to_have_count(3)
    expect(votes).to_contain_text(EVIL)
    votes.get_by_role("button", name="Close").click()
    expect(votes).to_be_hidden()
    kernel(page, "state", {"hidden": True})
    expect(page.get_by_role("button", name="All votes")).to_be_disabled()
