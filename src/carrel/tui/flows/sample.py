"""The sample: played over a place, which is left for a part of it."""

from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.sample import SampleDialog


async def play(place: MainScreen) -> None:
    """Play the sample and go to the part of it that is chosen."""
    if chosen := await place.ask(SampleDialog(place.store.sample)):
        place.open_place(chosen)
