"""Attachments of the next question."""

from collections import Counter

from carrel.store.activity.uploads import UploadSource
from carrel.store.chat.conversation import Attachment
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.slice import Slice
from carrel.store.files.service import FilesService


class NextQuestion:
    """The next question's attachments in the open session; files are uploaded on attaching."""

    def __init__(self, slice: Slice[ChatState], files: FilesService) -> None:
        self._slice = slice
        self._files = files
        self._uploads: Counter[str] = Counter()  # uploads under way by session

    def attach(self, attachment: Attachment) -> None:
        """Attach a file or document, unless it is attached already."""
        attached = self._slice.value.attached
        if attachment not in attached:
            self._slice.set(attached=(*attached, attachment))

    def detach(self, attachment: Attachment) -> None:
        """Remove an attachment."""
        attached = (known for known in self._slice.value.attached if known != attachment)
        self._slice.set(attached=tuple(attached))

    async def upload(self, session_id: str, source: UploadSource) -> None:
        """Upload a file; attach it if its session is still open."""
        file = await self._files.upload(source)
        if session_id == self._slice.value.session_id:
            self.attach(Attachment("file", file.id, file.filename))

    def uploads(self, session_id: str) -> int:
        """Return the number of uploads under way in a session."""
        return self._uploads[session_id]

    def count_uploads(self, session_id: str, more: int) -> None:
        """Add to the number of uploads under way in a session: 1 at the begin, -1 at the end."""
        self._uploads[session_id] += more
        if session_id == (self._slice.value.session_id or ""):
            self._slice.set(uploading=self._uploads[session_id])
