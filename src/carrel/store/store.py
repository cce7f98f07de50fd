"""The whole state: one service an area, over one profile and one owner loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.pages.renderer import Renderer
from carrel.store import logs
from carrel.store.activity import ActivityService
from carrel.store.agents import AgentsService
from carrel.store.batch import BatchService
from carrel.store.chat import ChatService
from carrel.store.documents import DocumentsService
from carrel.store.files import FilesService
from carrel.store.finder import FinderService
from carrel.store.libraries import LibrariesService
from carrel.store.loop import OwnerLoop
from carrel.store.models import ModelsService
from carrel.store.notifications import NotificationsService
from carrel.store.previews import PreviewService
from carrel.store.requests import RequestsService
from carrel.store.samples import SampleService
from carrel.store.session import SessionService, SessionState
from carrel.store.sources import Sources
from carrel.store.sync import SyncService
from carrel.store.tools import Toolbox

if TYPE_CHECKING:
    from carrel.config import Profile


class Store:
    """What both faces show and do. Its services' actions may be called from any thread."""

    def __init__(self, profile: Profile, loop: OwnerLoop) -> None:
        self.profile = profile
        self.loop = loop
        self.renderer = Renderer()
        self.notifications = NotificationsService(loop)
        self.activity = ActivityService(loop)
        self.requests = RequestsService(loop)
        self.session = SessionService(loop, profile, self.requests.log)
        self.files = FilesService(loop, self.session, self.activity, self.notifications)
        self.previews = PreviewService(loop, self.session, self.renderer)
        self.libraries = LibrariesService(loop, self.session, self.activity, self.notifications)
        self.sync = SyncService(
            loop, profile, self.session, self.activity, self.notifications, self.libraries
        )
        self.documents = DocumentsService(loop, self.session, self.activity, self.renderer)
        self.batch = BatchService(
            loop, self.session, self.activity, self.renderer, self.notifications
        )
        self.agents = AgentsService(loop, self.session, self.notifications)
        self.tools = Toolbox()
        self.sources = Sources(loop, self.session, self.renderer)
        self.chat = self.another_chat()
        self.beside = self.another_chat(saved=False)
        self.finder = FinderService(loop, self.session, self.chat)
        self.models = ModelsService(loop, profile, self.session, self.notifications)
        self.sample = SampleService(
            loop,
            self.session,
            self.files,
            self.documents,
            self.libraries,
            self.agents,
            self.chat,
        )

    def another_chat(self, *, saved: bool = True) -> ChatService:
        """A chat beside the others; whoever asks for it closes it."""
        return ChatService(self.loop, self.session, self.files, self.tools, saved=saved)

    async def start(self) -> None:
        """Begins to connect; returns at once. To be awaited on the owner loop."""
        logs.start()
        self.session.slice.changed.connect(self._session_changed)
        self.chat.load_sessions()
        await self.session.start()

    async def close(self) -> None:
        """Ends everything that runs, and the connection. To be awaited on the owner loop."""
        self.session.slice.changed.disconnect(self._session_changed, missing_ok=True)
        for area in (
            self.sample,
            self.sync,
            self.files,
            self.previews,
            self.libraries,
            self.documents,
            self.batch,
            self.agents,
            self.chat,
            self.finder,
            self.models,
            self.beside,
        ):
            await area.close()
        await self.session.close()
        await self.renderer.close()

    def _session_changed(self, new: SessionState, old: SessionState) -> None:
        if old.connection == "lost" and new.connection == "ready":
            self.notifications.notify("The server is back.")
            self._load_again()

    def _load_again(self) -> None:
        """Loads what was on screen when the server was lost."""
        for area in (self.files, self.libraries, self.agents):
            state = area.slice.value
            if state.loaded or state.error:
                area.load()
