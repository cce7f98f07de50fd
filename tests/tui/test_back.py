"""`esc` in every place: what a key opens is closed, and the focus is where it was."""

import pytest
from textual.widget import Widget

from carrel.config.profiles import Profile
from carrel.tui.widgets.frame.topbar import PLACES
from support.states import fill
from support.workbench import Workbench, workbench

EVERYWHERE = ("ctrl+p", "at", "ctrl+t", "f1", "f3")
OPENED = {
    "files": ("slash", "u", "a", "y", "D", "f", "w", "comma", *EVERYWHERE),
    "libraries": ("slash", "n", "u", "a", "s", "R", "D", "e"),
    "document": ("slash", "e", "y", "o", "w"),
    "agents": ("slash", "tab", "e", "n", "y", "number_sign", "E", "D"),
    "chat": ("slash", "c", "alt+c", "alt+m", "w", "p", "a"),
    "activity": ("slash", "tab", "comma"),
}
"""Keys that open something, by place."""
NARROW = {"files": ("i",), "libraries": ("i",), "activity": ("i",)}
"""Keys to another pane where one is seen at a time."""
STEPS = 2
"""Times that esc is pressed at most: Libraries goes from its search to its list by its documents.
"""


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    ("place", "keys", "size"),
    [
        *((place, keys, (120, 36)) for place, keys in OPENED.items()),
        *((place, keys, (80, 24)) for place, keys in NARROW.items()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_esc_closes_what_a_key_opened(
    place: str, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    async with workbench(Profile("local"), size) as bench:
        fill(bench.store)
        bench.store.agents.slice.set(marked=(), diff=())
        await bench.app.action_go(place)
        await bench.until(lambda: bench.app.place and place == bench.app.place.PLACE)
        if place == "chat":
            await bench.press("escape")
        before = _at(bench)
        for key in keys:
            await bench.leave(key)
            await bench.until(lambda: _at(bench) != before)
            for _ in range(STEPS):
                if _at(bench) != before:
                    await _press_escape(bench)
            assert _at(bench) == before, f"{key}\n{bench.text()}"


async def _press_escape(bench: Workbench) -> None:
    here = _at(bench)
    await bench.leave("escape")
    await bench.until(lambda: _at(bench) != here)


def _at(bench: Workbench) -> tuple[object, Widget | None]:
    """What is shown, and what in it has the focus."""
    return bench.app.screen, bench.app.screen.focused


def test_every_place_is_in_the_table() -> None:
    assert OPENED.keys() == PLACES.keys()
