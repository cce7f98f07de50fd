"""What Activity shows."""

from carrel.store.activity import formatting as activity
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.core.problem import Problem

NOW = 1_800_000_000.0

HOSTILE = "invoice [/final]\nsecond line.pdf"

FLAT = "invoice [/final] second line.pdf"


def test_activity_rows_show_failures_first_and_what_is_left() -> None:
    state = ActivityState(
        (
            ActivityItem("1", "download", "b.pdf", "done", done=5, total=5, finished=NOW - 130),
            ActivityItem(
                "2", "upload", HOSTILE, "running", done=61_000_000, total=100_000_000, rate=4e6
            ),
            ActivityItem("3", "upload", "c.pdf"),
            ActivityItem("4", "ocr", "d.pdf", "failed", error=Problem("Not read", "Page 3.")),
            ActivityItem("5", "ocr", "e.pdf", "running", done=3, total=12, unit="pages", rate=0.5),
        )
    )
    rows = activity.activity_rows(state, NOW)
    assert [row.id for row in rows] == ["4", "2", "5", "3", "1"]
    failed, upload, ocr, queued, done = rows
    assert (str(failed.status), failed.error) == ("✕ Failed", "Not read. Page 3.")
    assert (upload.name, upload.progress, upload.rate) == (FLAT, "61 %", "4.0 MB/s")
    assert (upload.left, upload.fraction) == ("10 s left", 0.61)
    assert (ocr.progress, ocr.rate, ocr.left) == ("3 of 12 pages", "0.5 pages/s", "18 s left")
    assert (str(queued.status), queued.progress) == ("○ Queued", "")
    assert (str(done.status), done.when, done.fraction) == ("● Done", "2 min ago", 1.0)
    assert done.progress == "5 B"
    assert activity.activity_badge(state) == "↑2 ◐1 ✕1"
    assert activity.activity_badge(ActivityState()) == ""
