import re

import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, file_row, files_state, kernel, mount, preview, sent

pytestmark = pytest.mark.xdist_group("browser")


def test_a_view_says_hello(page: Page) -> None:
    mount(page, "files", files_state())
    assert page.evaluate("model.sent")[0]["kind"] == "hello"


def test_rows_are_walked_with_the_arrows_and_marked_with_space(page: Page) -> None:
    mount(page, "files", files_state(*(file_row(number) for number in range(30))))
    grid = page.get_by_role("grid", name="Files")
    assert grid.locator("tbody tr[tabindex='0']").count() == 1
    grid.locator("tbody tr[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "ArrowDown"):
        page.keyboard.press(key)
    expect(grid.locator("tr:focus")).to_contain_text("file-1.pdf")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    selected = [one["args"]["id"] for one in sent(page, "select")]
    assert selected == ["f1", "f2", "f1", "f29", "f0", "f1"]
    assert sent(page, "mark")[0]["args"] == {"id": "f1"}
    assert sent(page, "open")[0]["args"] == {"id": "f1"}


def test_a_new_state_keeps_the_focus_on_its_row(page: Page) -> None:
    rows = [file_row(number) for number in range(3)]
    mount(page, "files", files_state(*rows))
    page.locator("tbody tr").nth(1).click()
    kernel(page, "state", {"rows": [file_row(9), *rows], "selected": "f1"})
    expect(page.locator("tr:focus")).to_contain_text("file-1.pdf")
    expect(page.locator("tbody tr").first).to_contain_text("file-9.pdf")


def test_keys_stay_in_the_panel_but_for_the_host_s_chords(page: Page) -> None:
    mount(page, "files", files_state(file_row(1)))
    page.evaluate("""() => {
      window.heard = [];
      document.addEventListener('keydown', (event) => heard.push(event.key));
    }""")
    page.locator("tbody tr").first.focus()
    for key in ("b", "ArrowDown", "Control+s"):
        page.keyboard.press(key)
    page.get_by_role("searchbox").press("Control+Backspace")
    assert page.evaluate("heard") == ["Control", "s"]


def test_deleting_asks_first_and_escape_means_no(page: Page) -> None:
    mount(page, "files", files_state(file_row(1), file_row(2)))
    page.locator("tbody tr").first.click()
    page.keyboard.press("Shift+D")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("Delete “file-1.pdf”?")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(question).to_be_hidden()
    assert sent(page, "delete") == []
    page.keyboard.press("Shift+D")
    question.get_by_role("button", name="Delete").click()
    assert sent(page, "delete")[0]["args"] == {"ids": ["f1"]}


def test_what_is_marked_on_other_pages_counts(page: Page) -> None:
    mount(page, "files", files_state(file_row(1), marked=["f1", "f8", "f9"]))
    page.get_by_role("button", name="Delete…").click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("Delete 3 files?")
    question.get_by_role("button", name="Delete").click()
    assert sent(page, "delete")[0]["args"] == {"ids": ["f1", "f8", "f9"]}


def test_the_list_is_narrowed_and_says_so(page: Page) -> None:
    mount(page, "files", files_state(file_row(1)))
    page.get_by_label("Type", exact=True).select_option("PDF")
    assert sent(page, "narrow")[0]["args"] == {"field": "type", "value": "PDF"}
    page.get_by_label("Type", exact=True).select_option("")
    assert sent(page, "narrow")[1]["args"] == {"field": "type", "value": None}


def test_a_file_is_looked_into(page: Page) -> None:
    lines = [["1", '{"a": 1}'], ["2", EVIL]]
    look = preview(name="batch.jsonl", kind="lines", lines=lines)
    mount(page, "files", files_state(file_row(1), preview=look))
    text = page.get_by_label("Beginning of the file")
    expect(text).to_contain_text('{"a": 1}')
    expect(text).to_contain_text(EVIL)
    look = preview(of="f1", name="two.pdf", kind="picture", pages=2)
    kernel(page, "state", files_state(file_row(1), preview=look))
    page.evaluate(
        """() => {
          const asked = model.sent.findLast((one) => one.name === 'picture');
          kernel.message({ kind: 'done', rid: asked.rid }, [new DataView(new ArrayBuffer(8))]);
        }"""
    )
    expect(page.get_by_role("heading", name="two.pdf · 2 pages")).to_be_visible()
    expect(page.get_by_alt_text("First page")).to_have_attribute("src", re.compile("^blob:"))
    expect(text).to_be_hidden()
    # A long page is scrolled with the keys.
    page.get_by_role("group", name="Preview").focus()
    expect(page.get_by_role("group", name="Preview")).to_be_focused()


def test_a_look_that_did_not_come_is_asked_for_again(page: Page) -> None:
    look = preview(of="f1", name="two.pdf", kind="picture", pages=2)
    mount(page, "files", files_state(file_row(1), preview=look))
    problem = {"title": "Still busy", "detail": "", "advice": None}
    kernel(page, "answer", "picture", {"kind": "error", "problem": problem})
    expect(page.locator(".carrel-problem")).to_contain_text("Still busy")
    assert len(sent(page, "picture")) == 1
    kernel(page, "state", {"title": "Files · 1"})
    kernel(page, "state", {"title": "Files · 2"})
    assert len(sent(page, "picture")) == 2


def test_an_empty_list_offers_the_sample(page: Page) -> None:
    mount(page, "files", files_state())
    page.get_by_role("button", name="Open the sample").click()
    assert len(sent(page, "sample")) == 1
    steps = [
        {"status": "done", "words": "Read its pages"},
        {"status": "running", "words": "Ask an agent"},
    ]
    kernel(page, "state", files_state(file_row(1), sample={"running": True, "steps": steps}))
    expect(page.get_by_text("● Read its pages")).to_be_visible()
    expect(page.get_by_text("◐ Ask an agent")).to_be_visible()
    kernel(page, "state", files_state(file_row(1)))
    expect(page.get_by_text("Ask an agent")).to_be_hidden()
    expect(page.get_by_role("button", name="Open the sample")).to_be_hidden()


def test_a_letter_typed_in_a_field_is_only_a_letter(page: Page) -> None:
    mount(page, "files", files_state(file_row(1)))
    page.locator("tbody tr").first.focus()
    page.keyboard.press("/")
    page.keyboard.type("D lease")
    expect(page.get_by_role("searchbox")).to_have_value("D lease")
    expect(page.get_by_role("alertdialog")).to_be_hidden()
    page.wait_for_function("model.sent.some((one) => one.name === 'search')")
    assert sent(page, "search")[-1]["args"] == {"text": "D lease"}
    page.keyboard.press("ArrowDown")
    expect(page.locator("tbody tr").first).to_be_focused()


def test_a_refusal_is_shown_until_the_next_success(page: Page) -> None:
    mount(page, "files", files_state(file_row(1)))
    page.get_by_role("button", name="Copy link").click()
    problem = {"title": "Not there any more", "detail": "f1", "advice": "Reload the list."}
    kernel(page, "answer", "link", {"kind": "error", "problem": problem})
    expect(page.locator(".carrel-problem")).to_contain_text(
        "Not there any more f1 Reload the list."
    )
    kernel(page, "state", {"loading": True})
    expect(page.locator(".carrel-problem")).to_be_visible()
    page.locator("tbody tr").first.click()
    kernel(page, "answer", "select", {})
    expect(page.locator(".carrel-problem")).to_be_hidden()


def test_a_silent_kernel_is_told_and_forgiven(new_page: Page) -> None:
    new_page.clock.install()
    mount(new_page, "files", files_state(file_row(1)))
    new_page.clock.run_for(4000)
    expect(new_page.locator(".carrel-banner")).to_be_hidden()
    new_page.clock.run_for(2000)
    expect(new_page.locator(".carrel-banner")).to_contain_text("run the cell again")
    rid = new_page.evaluate("model.sent[0].rid")
    kernel(new_page, "message", {"kind": "done", "rid": rid, "result": None})
    expect(new_page.locator(".carrel-banner")).to_be_hidden()


def test_a_file_is_offered_and_its_ranges_are_sent_when_asked_for(page: Page) -> None:
    mount(page, "files", files_state())
    content = bytes(range(256)) * 8
    for _ in range(2):  # the same file twice is two uploads
        page.locator("input[type=file]").set_input_files(
            {"name": "a.bin", "mimeType": "application/octet-stream", "buffer": content}
        )
    offers = [one["args"]["files"][0] for one in sent(page, "upload")]
    assert [(offer["name"], offer["size"]) for offer in offers] == [("a.bin", 2048)] * 2
    assert offers[0]["key"] != offers[1]["key"]
    wanted = {"kind": "read", "key": offers[0]["key"], "offset": 2000, "length": 1024}
    kernel(page, "message", {**wanted, "to": offers[0]["view"]})
    page.wait_for_function("model.sent.some((one) => one.kind === 'chunk')")
    chunk = page.evaluate("model.sent.find((one) => one.kind === 'chunk')")
    assert (chunk["offset"], chunk["bytes"]) == (2000, 48)
    kernel(page, "message", {"kind": "forget", "key": offers[0]["key"], "to": offers[0]["view"]})
    kernel(page, "message", {**wanted, "to": offers[0]["view"]})
    page.wait_for_function("model.sent.some((one) => one.error)")


def test_a_dropped_file_is_offered(page: Page) -> None:
    mount(page, "files", files_state())
    page.evaluate("""() => {
      const data = new DataTransfer();
      data.items.add(new File(['abc'], 'dropped.txt'));
      const zone = document.querySelector('.carrel');
      const how = { dataTransfer: data, bubbles: true, cancelable: true };
      for (const type of ['dragover', 'drop']) zone.dispatchEvent(new DragEvent(type, how));
    }""")
    assert sent(page, "upload")[0]["args"]["files"][0]["name"] == "dropped.txt"


def test_a_deletion_is_offered_to_be_undone_until_it_is_dismissed(page: Page) -> None:
    mount(page, "files", files_state(file_row(1)))
    page.locator("tbody tr").first.click()
    page.keyboard.press("Shift+D")
    expect(page.get_by_role("alertdialog")).to_contain_text("You can undo this for 7 days.")
    page.keyboard.press("Escape")
    kernel(page, "state", {"deletion": {"number": 1, "what": "3 files"}})
    expect(page.get_by_text("Deleted 3 files.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    assert sent(page, "undo")[0]["args"] == {}
    kernel(page, "state", {"deletion": None})
    expect(page.get_by_text("Deleted 3 files.")).to_be_hidden()
    kernel(page, "state", {"deletion": {"number": 2, "what": "one file"}})
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Deleted one file.")).to_be_hidden()


def test_marked_files_go_to_ocr_of_a_hosted_service_as_one_job(page: Page) -> None:
    rows = [file_row(0), file_row(1)]
    marked = [row["id"] for row in rows]
    mount(page, "files", files_state(*rows, marked=marked, service="It bills."))
    page.get_by_role("button", name="Run OCR").first.click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("It bills.")
    expect(question).to_contain_text("Cheaper; all come at its end.")
    question.get_by_role("button", name="As one batch job").click()
    assert sent(page, "read")[0]["args"] == {"ids": marked, "batch": True}
