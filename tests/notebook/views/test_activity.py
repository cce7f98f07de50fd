import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, mount, sent

pytestmark = pytest.mark.xdist_group("browser")


def test_what_can_be_done_goes_with_the_row(page: Page) -> None:
    failed, running = {"text": "✕ Failed", "role": "failed"}, {"text": "◐ Running", "role": "busy"}
    rows = [
        {"id": "upload-1", "cells": ["Upload", EVIL, failed, "", "", "", "No such file."],
         "running": False, "retryable": True},
        {"id": "ocr-2", "cells": ["OCR", "a.pdf", running, "1 of 3 pages", "", "", ""],
         "running": True, "retryable": False},
    ]  # fmt: skip
    mount(page, "activity", {"rows": rows, "empty": "", "problem": None})
    stop = page.get_by_role("button", name="■ Stop")
    retry = page.get_by_role("button", name="Retry")
    expect(page.get_by_role("row", name=EVIL)).to_contain_text("No such file.")
    page.get_by_role("row", name=EVIL).click()
    expect(stop).to_be_disabled()
    retry.click()
    assert sent(page, "retry")[0]["args"] == {"ids": ["upload-1"]}
    page.get_by_role("row", name="a.pdf").click()
    expect(retry).to_be_disabled()
    stop.click()
    assert sent(page, "cancel")[0]["args"] == {"ids": ["ocr-2"]}
    page.get_by_role("button", name="Dismiss all").click()
    assert len(sent(page, "dismiss_all")) == 1


def test_the_answers_of_a_batch_job_are_saved(page: Page) -> None:
    done = {"text": "● Done", "role": "ready"}
    rows = [
        {"id": "batch-1", "cells": ["Batch", "OCR of 2 files", done, "", "", "", "Answers: 2"],
         "running": False, "retryable": False, "saves": True},
        {"id": "ocr-2", "cells": ["OCR", "a.pdf", done, "", "", "", ""],
         "running": False, "retryable": False, "saves": False},
    ]  # fmt: skip
    mount(page, "activity", {"rows": rows, "empty": "", "problem": None})
    save = page.get_by_role("button", name="Save answers")
    page.get_by_role("row", name="a.pdf").click()
    expect(save).to_be_hidden()
    page.get_by_role("row", name="OCR of 2 files").click()
    save.click()
    assert sent(page, "save")[0]["args"] == {"id": "batch-1"}


def test_many_are_marked_counted_and_stopped_together(page: Page) -> None:
    waiting = {"text": "○ Queued", "role": "waiting"}
    rows = [
        {"id": f"upload-{n}", "cells": ["Upload", f"{n}.md", waiting, "", "", "", ""],
         "running": True, "retryable": False, "marked": n < 2}
        for n in range(4)
    ]  # fmt: skip
    state = {"rows": rows, "counted": "1 running · 3 waiting", "empty": "", "problem": None}
    mount(page, "activity", state)
    expect(page.get_by_text("1 running · 3 waiting")).to_be_visible()
    page.get_by_role("row", name="3.md").click()
    page.keyboard.press("Control+a")
    assert len(sent(page, "mark_all")) == 1
    page.keyboard.press("x")
    page.get_by_role("button", name="Stop them").click()
    assert sent(page, "cancel")[0]["args"] == {"ids": ["upload-0", "upload-1"]}


def test_what_an_earlier_kernel_left_is_resumed_or_dropped(page: Page) -> None:
    left = ["78 of 100 uploads left", "Interrupted at 303 of 2,000: ~/notes"]
    mount(
        page,
        "activity",
        {"rows": [], "empty": "", "problem": None, "left": left, "resumable": True},
    )
    expect(page.get_by_text(" · ".join(left))).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    assert len(sent(page, "resume")) == 1
    page.get_by_role("button", name="Drop").click()
    assert not sent(page, "drop")
    page.get_by_role("alertdialog").get_by_role("button", name="Drop").click()
    assert len(sent(page, "drop")) == 1
