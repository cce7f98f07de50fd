import pytest
from playwright.sync_api import Page, expect

from support.views import kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")

STATE = {
    "chats": [{"id": 0, "panel": "anywidget:a"}, {"id": 1, "panel": "anywidget:b"}],
    "busy": False,
    "begun": False,
    "problem": None,
}


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
