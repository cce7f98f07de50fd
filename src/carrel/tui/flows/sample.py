"""The sample, and the way to its results."""

from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.sample import SampleDialog


async def play(place: MainScreen) -> None:
    """Play the sample and open the result chosen there."""
    if chosen := await place.ask(SampleDialog(place.store.sample)):
        place.open_place(chosen)
