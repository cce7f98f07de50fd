"""Names and texts that would steer the terminal or break markup are shown as plain text."""

import pytest

from carrel.config.profiles import Profile
from carrel.store.core.problem import Problem
from support.states import fill, searched
from support.workbench import Workbench, workbench

HOSTILE = "invoice [/final] \x1b]0;x\x07.pdf"
PLACES = ("1", "2", "3", "4", "5", "6")
DIALOGS = {
    "1": ("a", "D", "y"),
    "2": ("D", "e"),
    "4": ("e", "D", "n"),
    "5": ("y",),
    "6": ("enter",),
}


async def looks_harmless(bench: Workbench) -> None:
    text = bench.text()
    assert not any(ord(letter) < 32 for letter in text.replace("\n", "")), ascii(text)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_a_hostile_name_is_harmless_in_every_place(size: tuple[int, int]) -> None:
    async with workbench(Profile("local"), size) as bench:
        fill(bench.store, HOSTILE)
        for place in PLACES:
            await bench.press(f"alt+{place}")
            # What looks like a path loses its folders in a narrow column, its middle in a title.
            await bench.until(lambda: "invoice [/" in bench.text() or "…/final]" in bench.text())
            await looks_harmless(bench)
            for key in DIALOGS.get(place, ()):
                await bench.press("escape", key)
                await looks_harmless(bench)
                await bench.press("escape")
        searched(bench.store, HOSTILE)
        await bench.press("alt+2")
        await looks_harmless(bench)


@pytest.mark.usefixtures("offline")
async def test_a_hostile_problem_and_notice_are_harmless() -> None:
    async with workbench(Profile("local")) as bench:
        bench.store.notifications.notify(HOSTILE)
        await bench.shows("invoice [/final] ]0;x.pdf")
        bench.app.show_problem(Problem(HOSTILE, HOSTILE, HOSTILE))
        await bench.shows("invoice [/final] ]0;x.pdf")
        await looks_harmless(bench)
