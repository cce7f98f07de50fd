"""The sources of a chat: going through the passages behind its answers, and opening one."""

from collections.abc import Sequence

from carrel.store.chat.service import ChatService
from carrel.store.chat.sources import source_of
from carrel.store.chat.words import title
from carrel.store.store import Store
from carrel.tui.place import Place
from carrel.tui.widgets.source import SourcePane
from carrel.tui.widgets.transcript import Transcript
from carrel.tui.workbench import Workbench
from carrel.wire.completions import Passage


class ChatSources(Place):
    """The part of the chat's place that shows passages beside the answers."""

    def __init__(self, store: Store, workbench: Workbench) -> None:
        super().__init__(store, workbench)
        self._source = (0, 0, 0)
        """The passage that is shown: the number of its chat, its turn, and its own."""

    @property
    def chats(self) -> tuple[ChatService, ...]:
        """The chats that are open, as they stand from the left."""
        return self.store.comparison.chats

    def has_sources(self) -> bool:
        """Whether there is a passage, or a hit of a search, to go to."""
        finding = isinstance(over := self.list_filter.over, Transcript) and over.finding
        return finding or any(turn.sources for turn in self.chats[0].slice.value.turns)

    def _passages(self, chat: int, place: int) -> Sequence[Passage]:
        turns = self.chats[chat].slice.value.turns if chat < len(self.chats) else ()
        return turns[place].sources if place < len(turns) else ()

    def action_source(self, step: int) -> None:
        if isinstance(over := self.list_filter.over, Transcript) and over.finding:
            over.go_to_hit(step)
            return
        turns = self.chats[0].slice.value.turns
        answers = [place for place, turn in enumerate(turns) if turn.sources]
        if not answers:
            return
        chat, place, number = self._source
        shown = self.query_one(SourcePane).passage is not None
        if not shown or not self._passages(chat, place):
            chat, place, number = 0, answers[-1], -1 if step > 0 else 0
        self.action_show_source(chat, place, number + step)

    def action_show_source(self, chat: int, place: int, number: int) -> None:
        """Shows one of the passages of an answer beside the chat; a click does it too."""
        passages = self._passages(chat, place)
        if passages:
            self._source = (chat, place, number % len(passages))
            pane = self.query_one(SourcePane)
            pane.show(passages[number % len(passages)], title(self.chats[chat].slice.value))
            if self.one_pane:
                pane.query_one("#quote").focus()

    def action_open_source(self) -> None:
        passage = self.query_one(SourcePane).passage
        if passage is not None:
            self.store.documents.open(source_of(passage), passage.page or 0, passage.box)
            self.open_place("document")
