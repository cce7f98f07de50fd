"""A draft beside the active version, in one Agent panel: panels inside a panel."""

import pytest
from playwright.sync_api import expect

from support.lab import Notebook

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

SLOW_MS = 60_000
PANEL = """import carrel
bench = carrel.connect()
agent = bench.create_agent("tried", model="smollm2", instructions="Be kind.")
bench.agent(agent, height=400)"""


def test_a_draft_is_tried_beside_the_active_version(notebook: Notebook) -> None:
    panel = notebook(PANEL).locator(".carrel-agents")
    panel.get_by_role("button", name="Edit").click(timeout=SLOW_MS)
    panel.get_by_label("Instructions").fill("Be brief.")
    panel.get_by_role("button", name="Try draft").click()
    for title in ("tried v0", "tried draft"):
        expect(panel.get_by_role("heading", name=title)).to_be_visible(timeout=SLOW_MS)
    room, *chats = [
        one.bounding_box() for one in (panel, *panel.get_by_role("region", name="Chat").all())
    ]
    assert room is not None
    left, right = chats
    assert left and right and left["y"] == right["y"] and left["x"] < right["x"]
    message = panel.get_by_label("Message to all")
    expect(message).to_be_focused()
    field = message.bounding_box()
    assert field and field["y"] + field["height"] <= room["y"] + room["height"]
    panel.get_by_role("button", name="Close").click()
    expect(panel.get_by_role("row", name="draft")).to_be_visible()
    expect(panel.get_by_role("region", name="Chat")).to_have_count(0)
