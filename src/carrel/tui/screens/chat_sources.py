"""The sources of a chat: stepping through the passages behind its answers, and opening one."""

from collections.abc import Sequence

from carrel.store.chat.formatting import title
from carrel.store.chat.service import ChatService
from carrel.store.chat.sources import source_of
from carrel.tui.base.screen import MainScreen
from carrel.tui.widgets.chat.source import SourcePane
from carrel.tui.widgets.chat.transcript import Transcript
from carrel.wire.generation.completions import Passage


class SourceBrowser:
    """Steps through the passages behind the answers of a screen's chats."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._source = (0, 0, 0)
        """The shown passage: the number of its chat, its turn, and its own number."""

    @property
    def _chats(self) -> tuple[ChatService, ...]:
        return self._screen.store.comparison.chats

    @property
    def _finding(self) -> Transcript | None:
        """The transcript with the hits of a search, or None."""
        over = self._screen.list_filter.over
        return over if isinstance(over, Transcript) and over.finding else None

    def has_sources(self) -> bool:
        """Return whether there is a passage or a search hit to go to."""
        turns = self._chats[0].slice.value.turns
        return self._finding is not None or any(turn.sources for turn in turns)

    def _passages(self, chat: int, place: int) -> Sequence[Passage]:
        turns = self._chats[chat].slice.value.turns if chat < len(self._chats) else ()
        return turns[place].sources if place < len(turns) else ()

    def step(self, step: int) -> None:
        """Go to the next passage or search hit, or with -1 to the previous."""
        if (transcript := self._finding) is not None:
            transcript.go_to_hit(step)
            return
        turns = self._chats[0].slice.value.turns
        answers = [place for place, turn in enumerate(turns) if turn.sources]
        if not answers:
            return
        chat, place, number = self._source
        shown = self._screen.query_one(SourcePane).passage is not None
        if not shown or not self._passages(chat, place):
            chat, place, number = 0, answers[-1], -1 if step > 0 else 0
        self.show(chat, place, number + step)

    def show(self, chat: int, place: int, number: int) -> None:
        """Show a passage of an answer beside the chat."""
        passages = self._passages(chat, place)
        if passages:
            self._source = (chat, place, number % len(passages))
            pane = self._screen.query_one(SourcePane)
            pane.show(passages[number % len(passages)], title(self._chats[chat].slice.value))
            if self._screen.one_pane:
                pane.query_one("#quote").focus()

    def open(self) -> None:
        """Open the document of the shown passage."""
        passage = self._screen.query_one(SourcePane).passage
        if passage is not None:
            documents = self._screen.store.documents
            documents.open(source_of(passage), passage.page or 0, passage.box)
            self._screen.open_place("document")
