import pytest
from playwright.sync_api import Page, expect

from support.views import document_state, kernel, mount, sent

pytestmark = pytest.mark.xdist_group("browser")


PNG = """async () => {
  const canvas = new OffscreenCanvas(400, 600);
  canvas.getContext('2d').fillRect(0, 0, 10, 10);
  const blob = await canvas.convertToBlob();
  const asked = model.sent.findLast((one) => one.name === 'picture');
  const bytes = new DataView(await blob.arrayBuffer());
  kernel.message({ kind: 'done', result: null, rid: asked.rid }, [bytes]);
}"""


def test_boxes_lie_over_the_picture(page: Page) -> None:
    mount(page, "document", document_state(4))
    page.evaluate(PNG)
    page.wait_for_function("document.querySelector('.carrel-sheet img').naturalWidth === 400")
    sheet = page.locator(".carrel-sheet img").bounding_box()
    box = page.get_by_role("button", name="text 2 of 4").bounding_box()
    assert sheet and box
    assert box["x"] == pytest.approx(sheet["x"] + 0.1 * sheet["width"], abs=1)
    assert box["y"] == pytest.approx(sheet["y"] + 0.225 * sheet["height"], abs=1)
    assert box["width"] == pytest.approx(0.8 * sheet["width"], abs=1)


def test_a_box_and_its_text_are_one_selection(page: Page) -> None:
    mount(page, "document", document_state(4))
    page.locator(".carrel-document").focus()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".carrel-block.marked")).to_have_text("block 1")
    page.locator(".carrel-block").nth(3).hover()
    expect(page.locator(".carrel-boxes .marked")).to_have_attribute("data-index", "3")


def test_page_keys_turn_pages_and_stop_at_the_ends(page: Page) -> None:
    mount(page, "document", document_state(1))
    page.locator(".carrel-document").focus()
    page.keyboard.press("h")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("l")
    assert [one["args"]["page"] for one in sent(page, "go")] == [1, 1]
    page.get_by_role("navigation", name="Pages").get_by_role("button", name="3").click()
    assert sent(page, "go")[-1]["args"] == {"page": 2}


def test_markdown_can_be_shown_raw(page: Page) -> None:
    mount(page, "document", document_state(2, markdown="# Lease <b>"))
    page.get_by_role("button", name="Markdown").click()
    expect(page.locator(".carrel-text pre")).to_have_text("# Lease <b>")
    expect(page.get_by_role("button", name="Markdown")).to_have_attribute("aria-pressed", "true")


def test_reading_can_be_stopped_and_taken_up_again(page: Page) -> None:
    mount(page, "document", document_state(1, reading=True, read=False, progress="Reading page 2"))
    expect(page.get_by_role("button", name="Run OCR")).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    kernel(page, "state", {"reading": False, "progress": ""})
    page.get_by_role("button", name="Run OCR").click()
    assert [len(sent(page, name)) for name in ("stop", "read")] == [1, 1]
