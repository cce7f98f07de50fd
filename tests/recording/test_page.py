"""The page of a recording, in a real browser."""

import re
from pathlib import Path

from playwright.sync_api import expect

from carrel.recording.asciicast import Event, Recording
from carrel.recording.page import page
from support.browser import chromium

HOSTILE = "</script><script>document.title='taken'</script><!--"
RECORDING = Recording(
    f"Leases & {HOSTILE}",
    60,
    4,
    (
        Event(0.0, "o", f"\x1b[2J\x1b[HHello, {HOSTILE}"),
        Event(0.1, "m", "1  A step"),
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
        assert (fetched, faults) == ([path.as_uri()], [])


def test_it_names_no_address_elsewhere() -> None:
    text = page(RECORDING)
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|url\(\s*["']?https?:""", text)
    assert "Apache License" in text
