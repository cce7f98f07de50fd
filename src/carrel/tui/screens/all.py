"""The six places by the names of their modes."""

from carrel.tui.place import Place
from carrel.tui.screens.activity import ActivityPlace
from carrel.tui.screens.agents import AgentsPlace
from carrel.tui.screens.chat import ChatPlace
from carrel.tui.screens.document import DocumentPlace
from carrel.tui.screens.files import FilesPlace
from carrel.tui.screens.libraries import LibrariesPlace

PLACE_SCREENS: dict[str, type[Place]] = {
    place.PLACE: place
    for place in (
        FilesPlace,
        LibrariesPlace,
        DocumentPlace,
        AgentsPlace,
        ChatPlace,
        ActivityPlace,
    )
}
