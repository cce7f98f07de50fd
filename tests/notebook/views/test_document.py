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


def test_a_picture_that_did_not_come_is_asked_for_again(page: Page) -> None:
    mount(page, "document", document_state(4))
    problem = {"title": "Still busy", "detail": "", "advice": None}
    kernel(page, "answer", "picture", {"kind": "error", "problem": problem})
    expect(page.locator(".carrel-problem")).to_contain_text("Still busy")
    assert len(sent(page, "picture")) == 1
    kernel(page, "state", {"block": 2})
    assert len(sent(page, "picture")) == 2
    page.evaluate(PNG)
    page.wait_for_function("document.querySelector('.carrel-sheet img').naturalWidth === 400")
    kernel(page, "state", {"block": 3})
    assert len(sent(page, "picture")) == 2


def test_a_box_and_its_text_are_one_selection(page: Page) -> None:
    mount(page, "document", document_state(4))
    page.locator(".carrel-document").focus()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.get_by_role("button", name="text 3 of 4").click()
    page.locator(".carrel-block").nth(3).click()
    assert [one["args"] for one in sent(page, "step")] == [{"by": 1}, {"by": -1}]
    assert [one["args"] for one in sent(page, "choose")] == [{"block": 2}, {"block": 3}]
    kernel(page, "state", {"block": 3, "block_words": "text 4 of 4 · 97 % sure"})
    expect(page.locator(".carrel-block.marked")).to_have_text("block 3")
    expect(page.get_by_role("button", name="text 4 of 4")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".carrel-boxes .marked")).to_have_count(1)
    expect(page.get_by_text("text 4 of 4 · 97 % sure")).to_be_visible()


def test_boxes_are_chosen_as_the_keyboard_reaches_them(page: Page) -> None:
    mount(page, "document", document_state(4))
    page.get_by_role("button", name="Next mark").focus()
    page.get_by_role("button", name="text 1 of 4").focus()
    page.keyboard.press("Tab")
    assert sent(page, "choose")[-1]["args"] == {"block": 1}


def test_a_chosen_block_comes_into_view_and_the_page_around_stays(page: Page) -> None:
    passages = [{"html": f"<p>{'word ' * 200}</p>", "block": n} for n in range(20)]
    mount(page, "document", document_state(20, passages=passages))
    page.evaluate("document.querySelector('#place').style.marginTop = '3000px'")
    kernel(page, "state", {"block": 15})
    page.wait_for_function("document.querySelector('.carrel-text').scrollTop > 1000")
    assert page.evaluate("window.scrollY") == 0


def test_doubtful_words_and_hits_are_gone_through(page: Page) -> None:
    html = '<p>in <mark class="doubtful">writlng</mark> and <mark class="chosen">now</mark></p>'
    state = document_state(1, passages=[{"html": html, "block": 0}])
    mount(page, "document", {**state, "mark_words": "“now” 61 % sure · 2 of 2 on this page"})
    expect(page.get_by_text("2 of 2 on this page")).to_be_visible()
    drawn = page.locator("mark.doubtful").evaluate(
        "node => getComputedStyle(node).textDecorationLine"
    )
    assert drawn == "underline", "colour is not the only sign"
    page.locator(".carrel-document").focus()
    page.keyboard.press("]")
    page.keyboard.press("[")
    page.keyboard.press("/")
    page.keyboard.type("rent")
    page.keyboard.press("Enter")
    assert [one["args"]["by"] for one in sent(page, "mark")] == [1, -1]
    assert sent(page, "find")[0]["args"] == {"text": "rent"}


def test_zoom_and_fill_draw_the_page_anew(page: Page) -> None:
    mount(page, "document", document_state(4, block=2))
    first = sent(page, "picture")[-1]["args"]["width"]
    page.get_by_role("button", name="Larger").click()
    page.get_by_role("button", name="Larger").click()
    assert sent(page, "picture")[-1]["args"]["width"] == pytest.approx(2 * first, rel=0.2)
    page.get_by_role("button", name="Fill with block").click()
    expect(page.get_by_role("button", name="Fill with block")).to_have_attribute(
        "aria-pressed", "true"
    )
    stage, box = (
        page.locator(".carrel-stage").bounding_box(),
        page.get_by_role("button", name="text 3 of 4").bounding_box(),
    )
    assert stage and box
    assert box["width"] == pytest.approx(stage["width"], rel=0.15)
    page.locator(".carrel-document").press("Escape")
    expect(page.get_by_role("button", name="Fill with block")).to_have_attribute(
        "aria-pressed", "false"
    )


def test_the_place_of_a_passage_is_shown_until_its_block_is_known(page: Page) -> None:
    mount(page, "document", document_state(0, place=[10, 20, 30, 5], markdown=None))
    expect(page.locator(".carrel-place")).to_be_visible()
    kernel(page, "state", document_state(2, place=[10, 20, 30, 5], block=1))
    expect(page.locator(".carrel-place")).to_be_hidden()


def test_words_of_a_wide_table_stay_whole_and_it_scrolls(page: Page) -> None:
    row = "".join(f"<td>{number}28198.00</td>" for number in range(30))
    passage = {"html": f"<table><tr>{row}</tr></table>", "raw": "", "block": 0}
    mount(page, "document", document_state(1, passages=[passage]))
    table = page.locator(".carrel-block table")
    cell = table.locator("td").first.bounding_box()
    assert cell and cell["height"] < 30
    wide, shown, room = table.evaluate(
        "table => [table.scrollWidth, table.clientWidth, table.parentElement.clientWidth]"
    )
    assert wide > shown and shown <= room


def test_a_table_is_copied_and_the_document_saved(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    mount(page, "document", document_state(1, tables=1))
    page.get_by_label("Copy…").select_option("Table 1 as CSV")
    assert sent(page, "table")[-1]["args"] == {"number": 0, "form": "csv"}
    with page.expect_download() as download:
        page.get_by_label("Save…").select_option("JSON")
        page.evaluate(
            """() => {
              const asked = model.sent.findLast((one) => one.name === 'export');
              const bytes = new DataView(new TextEncoder().encode('{}').buffer);
              kernel.message({ kind: 'done', result: null, rid: asked.rid }, [bytes]);
            }"""
        )
    assert download.value.suggested_filename == "lease.json"


def test_how_it_is_read_is_chosen_in_a_form(page: Page) -> None:
    mount(page, "document", document_state(1, billed="A hosted service that bills."))
    page.locator(".carrel-document").focus()
    page.keyboard.press("o")
    expect(page.get_by_text("A hosted service that bills.")).to_be_visible()
    page.get_by_role("textbox", name="Pages").fill("1-2")
    page.get_by_label("Tables", exact=True).select_option("apart, as HTML")
    page.get_by_label("Headers and footers apart").check()
    page.get_by_role("group", name="How to read").get_by_role("button", name="Run OCR").click()
    assert sent(page, "read_again")[-1]["args"]["options"] == {
        "pages": "1-2", "tables": "html", "headers": True, "scores": "word", "pictures": False,
        "schema": "", "model": "",
    }  # fmt: skip


def test_what_changed_when_it_was_read_again_is_shown(page: Page) -> None:
    changes = [
        {"change": "removed", "spans": [["writ", "same"], ["lng", "removed"]]},
        {"change": "added", "spans": [["writ", "same"], ["ing <b>", "added"]]},
    ]
    mount(page, "document", document_state(1, changes=changes, note="read again: 1 of 1 page"))
    page.locator(".carrel-document").focus()
    page.keyboard.press("v")
    page.keyboard.press("v")
    expect(page.locator(".carrel-line.added")).to_have_text("+ writing <b>")
    expect(page.locator(".carrel-line.removed mark")).to_have_text("lng")


def test_page_keys_turn_pages_and_stop_at_the_ends(page: Page) -> None:
    mount(page, "document", document_state(1))
    page.locator(".carrel-document").focus()
    page.keyboard.press("h")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("l")
    assert [one["args"]["page"] for one in sent(page, "go")] == [1, 1]
    page.get_by_role("navigation", name="Pages").get_by_role("button", name="3").click()
    assert sent(page, "go")[-1]["args"] == {"page": 2}


def test_a_typed_page_is_gone_to_and_the_keys_work_again(page: Page) -> None:
    mount(page, "document", document_state(0))
    page.locator(".carrel-document").focus()
    page.keyboard.press("p")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    assert sent(page, "go")[-1]["args"] == {"page": 2}
    expect(page.locator(".carrel-document")).to_be_focused()
    kernel(page, "state", {"page": 2})
    expect(page.get_by_label("Page", exact=True)).to_have_value("3")
    page.keyboard.press("p")
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Page", exact=True)).to_have_value("3")
    assert len(sent(page, "go")) == 1


def test_the_buttons_are_skipped_to_the_text(page: Page) -> None:
    mount(page, "document", document_state(1))
    page.get_by_role("button", name="Skip the buttons").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".carrel-text")).to_be_focused()


def test_escape_leaves_a_field_then_the_list_of_words(page: Page) -> None:
    mount(page, "document", document_state(1))
    page.locator(".carrel-document").focus()
    page.keyboard.press("/")
    page.keyboard.type("rent")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Find in the text")).to_have_value("")
    page.keyboard.press("Escape")
    expect(page.locator(".carrel-document")).to_be_focused()
    page.keyboard.press("e")
    row = {"id": "0-0", "word": "wrlting", "corrected": "", "page": "1", "sure": "61 %"}
    words = {"title": "Doubtful words", "rows": [row]}
    kernel(page, "answer", "words", {"kind": "done", "result": words})
    group = page.get_by_role("group", name="Words to correct")
    expect(group.get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(group).to_be_hidden()
    expect(page.locator(".carrel-document")).to_be_focused()


def test_markdown_can_be_shown_raw_and_is_still_one_selection(page: Page) -> None:
    mount(page, "document", document_state(2, block=1))
    page.get_by_role("button", name="Rendered").click()
    expect(page.locator(".carrel-text .marked pre")).to_have_text("# block <b> 1")
    page.locator(".carrel-block").first.click()
    assert sent(page, "choose")[-1]["args"] == {"block": 0}
    page.get_by_role("button", name="Markdown").click()
    expect(page.locator(".carrel-block p")).to_have_count(2)


def test_much_that_is_billed_is_asked_about_before_it_is_read(page: Page) -> None:
    billed = "“work” bills what it reads."
    mount(page, "document", document_state(1, read=False, large=True, unread=1200, billed=billed))
    page.get_by_role("button", name="Run OCR").first.click()
    expect(page.get_by_text(f"Run OCR of 1,200 pages? {billed}")).to_be_visible()
    assert sent(page, "read") == []
    page.locator(".carrel-question").get_by_role("button", name="Run OCR").click()
    assert len(sent(page, "read")) == 1


def test_reading_can_be_stopped_and_taken_up_again(page: Page) -> None:
    mount(page, "document", document_state(1, reading=True, read=False, progress="Reading page 2"))
    expect(page.get_by_role("button", name="Run OCR").first).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    kernel(page, "state", {"reading": False, "progress": ""})
    page.get_by_role("button", name="Run OCR").click()
    assert [len(sent(page, name)) for name in ("stop", "read")] == [1, 1]


def test_a_page_without_text_says_so(page: Page) -> None:
    mount(
        page, "document", document_state(0, markdown="", no_text="No text was found on this page.")
    )
    expect(page.get_by_text("No text was found on this page.")).to_be_visible()


def test_doubtful_words_are_corrected_in_their_list(page: Page) -> None:
    mount(page, "document", document_state(2))
    page.get_by_role("button", name="Correct…").click()
    rows = [
        {"id": f"0-{n}", "word": f"wrlting{n}", "corrected": "", "page": "1", "sure": "61 %"}
        for n in range(2)
    ]
    words = {"title": "Doubtful words · 0 of 2 corrected", "rows": rows}
    kernel(page, "answer", "words", {"kind": "done", "result": words})
    group = page.get_by_role("group", name="Words to correct")
    expect(group.get_by_role("heading")).to_have_text("Doubtful words · 0 of 2 corrected")
    first, second = (group.get_by_label(f"“wrlting{n}” on page 1") for n in range(2))
    expect(first).to_be_focused()
    first.fill("writing")
    page.keyboard.press("Enter")
    expect(second).to_be_focused()
    assert sent(page, "correct")[0]["args"] == {"id": "0-0", "words": "writing", "every": False}
    kernel(page, "answer", "correct", {"kind": "done", "result": "1 of 2 corrected"})
    expect(group.get_by_role("heading")).to_have_text("1 of 2 corrected")
    # What is typed is saved, though the list is closed.
    second.fill("written")
    group.get_by_role("button", name="Close").click()
    expect(group).to_be_hidden()
    assert sent(page, "correct")[1]["args"] == {"id": "0-1", "words": "written", "every": False}


def test_a_page_is_reached_by_its_number_and_by_a_heading(page: Page) -> None:
    mount(page, "document", {**document_state(2), "pages": [], "page_count": 352})
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    page.get_by_label("Page", exact=True).fill("300")
    page.keyboard.press("Enter")
    assert sent(page, "go")[-1]["args"] == {"page": 299}
    page.locator(".carrel-document").focus()
    page.keyboard.press("c")
    headings = [{"level": 1, "title": "Term", "page": 0}, {"level": 2, "title": "Rent", "page": 40}]
    found = {"entries": headings, "at": 0}
    kernel(page, "answer", "contents", {"kind": "done", "result": found})
    contents = page.get_by_role("group", name="Contents")
    expect(contents.get_by_role("button", name="Term")).to_be_focused()
    contents.get_by_role("button", name="Rent").click()
    assert sent(page, "go")[-1]["args"] == {"page": 40}
    expect(contents).to_be_hidden()
    page.keyboard.press("c")
    kernel(page, "answer", "contents", {"kind": "done", "result": {"entries": [], "at": 0}})
    expect(
        page.get_by_text("No bookmarks, and no headings on the pages read so far.")
    ).to_be_visible()


THUMBNAIL = """async () => {
  const asked = model.sent.filter((one) => one.name === 'picture' && !one.answered);
  const canvas = new OffscreenCanvas(100, 140);
  canvas.getContext('2d').fillRect(0, 0, 100, 140);
  const blob = await canvas.convertToBlob();
  for (const one of asked) {
    one.answered = true;
    const bytes = new DataView(await blob.arrayBuffer());
    kernel.message({ kind: 'done', result: null, rid: one.rid }, [bytes]);
  }
  return asked.map((one) => one.args.page);
}"""


def test_only_thumbnails_in_view_are_drawn_and_one_is_chosen(page: Page) -> None:
    mount(page, "document", {**document_state(2), "pages": [], "page_count": 352})
    page.evaluate(THUMBNAIL)
    page.locator(".carrel-document").focus()
    page.keyboard.press("t")
    group = page.get_by_role("group", name="Thumbnails")
    first = group.get_by_role("button", name="Page 1", exact=True)
    expect(first).to_be_focused()
    expect(first).to_have_attribute("aria-current", "page")
    expect(page.locator(".carrel-stage")).to_be_hidden()
    drawn: list[int] = []
    for _ in range(60):
        answered = page.evaluate(THUMBNAIL)
        assert len(answered) <= 2
        drawn += answered
        page.wait_for_timeout(10)
    assert drawn[0] == 0 and sorted(drawn) == [*range(len(drawn))]
    assert 2 <= len(drawn) < 100, "only those in view"
    assert group.locator("img[src]").count() == len(drawn)
    # Of those that a jump to the end passes, none is asked for.
    page.keyboard.press("End")
    expect(group.get_by_role("button", name="Page 352", exact=True)).to_be_focused()
    page.wait_for_timeout(100)
    assert min(page.evaluate(THUMBNAIL)) > 200
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert sent(page, "go")[-1]["args"] == {"page": 350}
    expect(group).to_be_hidden()
    expect(page.locator(".carrel-stage")).to_be_visible()
    page.keyboard.press("t")
    page.keyboard.press("Escape")
    expect(group).to_be_hidden()


def test_a_file_without_pictures_is_its_text_alone(page: Page) -> None:
    mount(page, "document", document_state(4))
    words = "There is no picture for this kind of file."
    text = page.locator(".carrel-text")
    beside = text.bounding_box()
    kernel(page, "state", {"has_picture": False, "no_picture": words, "note": words})
    expect(page.locator(".carrel-stage")).to_be_hidden()
    expect(page.get_by_text(words)).to_be_visible()
    alone = text.bounding_box()
    assert beside and alone and alone["width"] > 1.5 * beside["width"]


def test_a_table_of_many_columns_scrolls_instead_of_being_squeezed(page: Page) -> None:
    row = "".join("<td>a cell of words</td>" for _ in range(10))
    passage = {"html": f"<table><tbody><tr>{row}</tr></tbody></table>", "raw": "", "block": 0}
    mount(page, "document", document_state(1, passages=[passage]))
    table = page.locator(".carrel-text table")
    wide, shown = table.evaluate("table => [table.scrollWidth, table.clientWidth]")
    assert wide > shown
    widths = page.locator(".carrel-text td").evaluate_all(
        "cells => cells.map((c) => c.offsetWidth)"
    )
    assert min(widths) > 70


def test_each_paragraph_runs_as_its_first_letter_does(page: Page) -> None:
    said = ("Rules of the room:", "כללי החדר:")
    passages = [{"html": f"<p>{text}</p>", "raw": text, "block": n} for n, text in enumerate(said)]
    mount(page, "document", document_state(2, passages=passages))
    places = page.locator(".carrel-text p").evaluate_all("""found => found.map((paragraph) => {
      const colon = document.createRange(), [text] = paragraph.childNodes;
      colon.setStart(text, text.length - 1);
      colon.setEnd(text, text.length);
      const all = paragraph.getBoundingClientRect();
      return (colon.getBoundingClientRect().x - all.x) / all.width;
    })""")
    latin, hebrew = places
    assert latin < 0.5 < hebrew < 1
    assert (
        page.locator(".carrel-text p")
        .nth(1)
        .evaluate("""paragraph => {
      const text = paragraph.firstChild, letter = document.createRange();
      letter.setStart(text, 0);
      letter.setEnd(text, 1);
      return letter.getBoundingClientRect().right >= paragraph.getBoundingClientRect().right - 1;
    }""")
    )
