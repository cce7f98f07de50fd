"""The page of a recording, in a real browser."""

import re
from pathlib import Path

from playwright.sync_api import expect

from carrel.recording.asciicast import Event, Recording
from carrel.recording.page import page
from support.browser import chromium

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=taken=1><!--"
LINK = "\x1b]8;;javascript:taken=1\x1b\\link\x1b]8;;\x1b\\"
RECORDING = Recording(
    f"Leases & {HOSTILE}",
    60,
    4,
    (
        Event(0.0, "o", f"\x1b[2J\x1b[HHello, {HOSTILE}"),
        Event(0.1, "m", f"1  A step {HOSTILE}"),
        Event(0.2, "o", f"{LINK}\x1b]0;taken\x07\u202e\u2028"),
        Event(0.2, "r", "80x24"),
        Event(0.6, "o", "\x1b[3;1H\x1b[38;2;255;0;0mThe end"),
    ),
)


def test_it_plays_by_itself_and_fetches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "leases.html"
    path.write_text(page(RECORDING), encoding="utf-8")
    with chromium() as browser:
        opened = browser.new_page()
        fetched: list[str] = []
        faults: list[str] = []
        opened.on("request", lambda request: fetched.append(request.url))
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.goto(path.as_uri())
        terminal = opened.locator("#player")
        expect(terminal).to_contain_text("Hello, </script>")
        expect(terminal).to_contain_text("The end")
        expect(opened).to_have_title(re.compile("^Leases & </script>"))
        # The names of marks are shown when the pointer is at them.
        for mark in opened.locator("[class*=marker]").all():
            mark.hover(force=True, timeout=2000)
        links = opened.locator("#player a").evaluate_all("all => all.map(one => one.href)")
        assert not [link for link in links if link.startswith("javascript:")]
        assert opened.locator("img").count() == 0
        assert opened.evaluate("window.taken") is None
        assert (fetched, faults) == ([path.as_uri()], [])


def test_it_names_no_address_elsewhere() -> None:
    text = page(RECORDING)
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|url\(\s*["']?https?:""", text)
    assert "Apache License" in text
