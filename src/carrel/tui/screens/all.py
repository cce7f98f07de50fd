"""The six screens by mode name."""

from carrel.tui.base.screen import MainScreen
from carrel.tui.screens.activity import ActivityScreen
from carrel.tui.screens.agents import AgentsScreen
from carrel.tui.screens.chat import ChatScreen
from carrel.tui.screens.document import DocumentScreen
from carrel.tui.screens.files import FilesScreen
from carrel.tui.screens.libraries import LibrariesScreen

PLACE_SCREENS: dict[str, type[MainScreen]] = {
    place.PLACE: place
    for place in (
        FilesScreen,
        LibrariesScreen,
        DocumentScreen,
        AgentsScreen,
        ChatScreen,
        ActivityScreen,
    )
}
