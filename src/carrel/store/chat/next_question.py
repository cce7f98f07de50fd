"""Files and documents that go with the next question."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from carrel.store.activity.uploads import UploadSource
from carrel.store.chat import attachments
from carrel.store.chat.asked import Asked
from carrel.store.chat.conversation import Attachment
from carrel.store.chat.kept import KeptChats
from carrel.store.chat.session_list import SessionList
from carrel.store.chat.sessions import SavedSessions
from carrel.store.core.action import Policy, action, instant
from carrel.store.core.handle import Handle
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import ProblemError
from carrel.store.files.service import FilesService
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.agents import AgentCreate


class NextQuestion(SessionList):
    """Attachments of the open session; files are uploaded when they are attached."""

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        files: FilesService,
        saved: SavedSessions,
        kept: KeptChats,
        *,
        keeps: bool,
    ) -> None:
        super().__init__(loop, session, saved, kept, keeps=keeps)
        self._files = files
        self._uploads: Counter[str] = Counter()  # uploads under way, by session
        self._asked: Asked | None = None

    def attach(self, source: UploadSource) -> Handle[None]:
        """Uploads a file, to go with the next question of the session that is open now."""
        session_id = self.slice.value.session_id or ""
        self._loop.call(lambda: self._uploading(session_id, 1))
        handle = self._attach_upload(session_id, source)
        handle.add_done_callback(lambda _: self._uploading(session_id, -1))
        return handle

    @action(Policy.BESIDE)
    async def _attach_upload(self, session_id: str, source: UploadSource) -> None:
        handle = self._files.upload(source)
        file = await handle
        if handle.error is not None:
            raise ProblemError(handle.error)
        if file is not None and session_id == self.slice.value.session_id:
            self._attach(Attachment("file", file.id, file.filename))

    def _uploading(self, session_id: str, more: int) -> None:
        self._uploads[session_id] += more
        if session_id == (self.slice.value.session_id or ""):
            self.slice.set(uploading=self._uploads[session_id])

    @instant
    def attach_known(self, attachment: Attachment) -> None:
        """Attaches a file or document of the service."""
        self._attach(attachment)

    @instant
    def detach(self, attachment: Attachment) -> None:
        """Removes an attachment."""
        left = (one for one in self.slice.value.attached if one != attachment)
        self.slice.set(attached=tuple(left))

    @action(Policy.LATEST)
    async def names_like(self, text: str) -> tuple[Attachment, ...]:
        """Suggests attachments whose name contains `text`."""
        client = await self._session.client()
        return await attachments.names_like(client, text, self._library_ids())

    def _attach(self, attachment: Attachment) -> None:
        attached = self.slice.value.attached
        if attachment not in attached:
            self.slice.set(attached=(*attached, attachment))

    def _draft(self) -> AgentCreate | None:
        return self._asked.draft if self._asked is not None and self.slice.value.draft else None

    def _library_ids(self) -> tuple[str, ...]:
        return self._asked.library_ids if self._asked else ()
