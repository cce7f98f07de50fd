"""The whole state: one service per area, over one profile and one owner loop."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet

from carrel.config.profiles import Profile
from carrel.pages.renderer import Renderer
from carrel.store.activity.service import ActivityService
from carrel.store.agents.service import AgentsService
from carrel.store.batches.service import BatchesService
from carrel.store.cache.copies import Copies
from carrel.store.cache.last_seen import LastSeen
from carrel.store.cache.results import ResultCache
from carrel.store.chat.service import ChatService
from carrel.store.chat.sessions.remote_chats import RemoteChats
from carrel.store.chat.sessions.saved import SavedSessions
from carrel.store.chat.sources import Sources
from carrel.store.comparison.service import ComparisonService
from carrel.store.core import logs
from carrel.store.core.actions.action import Service
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.documents.batch import OCRBatchService
from carrel.store.documents.corrections import SavedCorrections
from carrel.store.documents.remembered import RememberedOptions
from carrel.store.documents.service import DocumentsService
from carrel.store.evals.service import EvalsService
from carrel.store.files.service import FilesService
from carrel.store.finder import FinderService
from carrel.store.histories import HistoriesService
from carrel.store.journal.journal import Journal
from carrel.store.layout.service import LayoutService
from carrel.store.libraries.service import LibrariesService
from carrel.store.models import ModelsService
from carrel.store.navigation import TrailService
from carrel.store.notifications import NotificationsService
from carrel.store.previews import PreviewService
from carrel.store.requests.service import RequestsService
from carrel.store.sample import SampleService
from carrel.store.search.service import SearchService
from carrel.store.session.service import SessionService
from carrel.store.session.state import SessionState
from carrel.store.shared import Shared
from carrel.store.sync.service import SyncService
from carrel.store.tools.service import ToolsService
from carrel.store.trash.service import TrashService
from carrel.store.unfinished import Unfinished

Sv = TypeVar("Sv", bound=Service[Any])


class Store:
    """All state and actions of both faces. Actions may be called from any thread."""

    def __init__(self, profile: Profile, loop: OwnerLoop) -> None:
        self.profile = profile
        self.loop = loop
        self._was_lost = False
        state = profile.folders.state
        self._made: WeakSet[Service[Any]] = WeakSet()
        self.renderer = Renderer()
        self.notifications = NotificationsService(loop)
        self.activity = ActivityService(loop, Journal(profile))
        self.requests = RequestsService(loop)
        self.layout = LayoutService(loop, state)
        self.session = SessionService(loop, profile, self.requests.log)
        self.copies = Copies(self.session)
        self.trash = TrashService(loop, self.session, self.notifications)
        shared = self._shared = Shared(
            loop,
            profile,
            self.session,
            self.activity,
            self.notifications,
            self.trash,
            LastSeen(profile, self.session),
            self.copies,
            ResultCache(profile.folders.cache),
            self.renderer,
        )
        self.files = FilesService(shared)
        self.previews = PreviewService(shared)
        self.libraries = self.another_libraries()
        self.sync = SyncService(shared, self.libraries)
        self._ocr_options = RememberedOptions(state)
        self._corrections = SavedCorrections(state)
        self.documents = self.another_document()
        self.ocr_batch = OCRBatchService(shared, self._ocr_options)
        self.batches = BatchesService(shared, self.files)
        self.agents = self.another_agents()
        self.tools = ToolsService(loop, profile, state)
        self.chats = SavedSessions(state, profile.storage_name)
        self.kept_chats = RemoteChats(self.session, shared.last_seen)
        self.sources = Sources(loop, self.copies, self.renderer)
        self.chat = self.another_chat()
        self._fill_trash()
        self.comparison = self._keep(self._comparison(self.chat))
        self.finder = FinderService(shared, self.chat)
        self.search = SearchService(shared, self.chats)
        self.evals = EvalsService(shared, self.tools)
        self.models = ModelsService(shared)
        self.unfinished = Unfinished(self.activity, self.sync, self.comparison, self.evals)
        self.trail = TrailService()
        self.histories = HistoriesService(loop, state, profile)
        self.sample = SampleService(
            shared, self.files, self.documents, self.libraries, self.agents, self.chat
        )

    def _fill_trash(self) -> None:
        """Register with the trash the ways to restore each kind of item."""
        self.trash.lists("file", self.files.reload)
        self.trash.lists("document", self.libraries.reload)
        self.trash.lists("library", self.libraries.reload)
        self.trash.lists("agent", self.agents.reload)
        self.trash.lists("conversation", self.chat.reload, self.chat.restore, self.chats.deleted)

    # Further services of an area: the caller ends them with `close_service`.

    def another_libraries(self) -> LibrariesService:
        """Return a further libraries service with its own selection."""
        return self._keep(LibrariesService(self._shared))

    def another_document(self) -> DocumentsService:
        """Return a further documents service with its own open document."""
        document = DocumentsService(self._shared, self._ocr_options, self._corrections)
        return self._keep(document)

    def another_agents(self) -> AgentsService:
        """Return a further agents service with its own selection."""
        return self._keep(AgentsService(self._shared))

    def another_chat(self, *, saved: bool = True) -> ChatService:
        """Return a further chat service."""
        own = (self.files, self.tools, self.chats, self.kept_chats)
        return self._keep(ChatService(self._shared, *own, saved=saved))

    def another_comparison(self, *, saved: bool = True) -> ComparisonService:
        """Return a further comparison with its own chats."""
        return self._keep(self._comparison(self.another_chat(saved=saved), saved=saved))

    def _comparison(self, first: ChatService, *, saved: bool = True) -> ComparisonService:
        another = partial(self.another_chat, saved=saved)
        return ComparisonService(self.loop, self.session, self.requests, first, another)

    def close_service(self, service: Service[Any]) -> None:
        """Close a further service. May be called from any thread."""
        self.loop.run(service.close())

    def _keep(self, service: Sv) -> Sv:
        self._made.add(service)
        return service

    async def start(self) -> None:
        """Begin to connect and return at once. Call it on the owner loop."""
        logs.start()
        self.session.slice.changed.connect(self._session_changed)
        self.chat.load_sessions()
        await self.activity.take_over()
        self.sync.recall()
        self.batches.resume()
        await self.session.start()

    async def close(self) -> None:
        """Cancel everything that runs, and close the connection. Await it on the owner loop."""
        self.session.slice.changed.disconnect(self._session_changed, missing_ok=True)
        self.activity.leave()
        # A service was made after those that it uses; the connection is needed to the end.
        for service in (*self._made, *reversed(self._own)):
            if service is not self.session:
                await service.close()
        await self.session.close()
        await self.renderer.close()
        self.activity.close()

    @property
    def _own(self) -> list[Service[Any]]:
        """The services of the store itself, in the order in which they were made."""
        return [part for part in vars(self).values() if isinstance(part, Service)]

    def _session_changed(self, new: SessionState, old: SessionState) -> None:
        # The server may be slow before it is ready again.
        self._was_lost = self._was_lost or new.connection in ("lost", "failed")
        if self._was_lost and new.connection == "ready":
            self._was_lost = False
            self.notifications.notify("The server is back.")
            self._load_again()

    def _load_again(self) -> None:
        """Reload lists and clear errors caused by the lost server."""
        for area in (self.files, self.libraries, self.agents):
            state = area.slice.value
            if state.loaded or state.error:
                area.reload()  # a running load may end with a cached copy
        self.chat.load_remote()
        for chat in self.comparison.every:
            chat.recover()
        for service in self._own:
            service.recover()
