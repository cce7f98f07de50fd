"""Work in progress at exit, and its resumption at the next start."""

import asyncio
from collections import Counter

from carrel.store.activity.formatting import KINDS, left_words, lost_words
from carrel.store.activity.service import ActivityService
from carrel.store.activity.state import ActivityItem
from carrel.store.batches.formatting import job_id
from carrel.store.chat.service import ChatService
from carrel.store.comparison.service import ComparisonService
from carrel.store.core.actions.watch import until
from carrel.store.core.formatting import count, counted
from carrel.store.evals.service import EvalsService
from carrel.store.sync.formatting import unfinished_words
from carrel.store.sync.service import SyncService


class Unfinished:
    """The running work of this process, and the interrupted work of earlier ones."""

    def __init__(
        self,
        activity: ActivityService,
        sync: SyncService,
        comparison: ComparisonService,
        evals: EvalsService,
    ) -> None:
        self._activity = activity
        self._sync = sync
        self._comparison = comparison
        self._evals = evals

    @property
    def left(self) -> tuple[str, ...]:
        """The interrupted work: `78 of 100 uploads left`, a line per folder, and lost files."""
        lost = lost_words(self._activity.slice.value)
        return (*self.resumable, *([lost] if lost else []))

    @property
    def resumable(self) -> tuple[str, ...]:
        """The part of `left` that can be resumed."""
        words = left_words(self._activity.slice.value)
        return (*([words] if words else []), *unfinished_words(self._sync.slice.value))

    def resume(self, *, watch: bool = True) -> None:
        """Resume interrupted work, and with `watch` interrupted watches; from any thread."""
        state = self._activity.slice.value
        self._activity.retry(*(item.id for item in state.interrupted))
        self._sync.resume(watch=watch)

    def drop(self) -> None:
        """Forget interrupted work without undoing it. May be called from any thread."""
        state = self._activity.slice.value
        self._activity.cancel(*(item.id for item in state.interrupted))
        self._sync.drop()

    @property
    def running(self) -> tuple[ActivityItem, ...]:
        """The items that run or wait here, and would stop with this process."""
        items = self._activity.slice.value.items
        # The service continues processing and jobs without this process.
        return tuple(
            item
            for item in items
            if item.is_under_way and item.kind != "processing" and job_id(item.id) is None
        )

    @property
    def _answering(self) -> tuple[ChatService, ...]:
        """The chats with an answer under way."""
        return tuple(chat for chat in self._comparison.every if chat.slice.value.phase != "idle")

    @property
    def running_words(self) -> tuple[str, ...]:
        """The running work in words: a line per kind, the answers under way, and an eval run; empty
        if nothing runs."""
        kinds = Counter(item.kind for item in self.running)
        if syncs := len(self._sync.running_handles):
            # A sync has no item while it compares.
            kinds["sync"] = max(kinds["sync"], syncs)
        words = tuple(f"{KINDS[kind]}: {count(number)}" for kind, number in kinds.items())
        if answers := len(self._answering):
            words += (f"{counted(answers, 'answer')}: Retry in Chat asks again",)
        if self._evals.running_task is not None:
            words += ("1 eval run: E in Agents resumes it",)
        return words

    def cancel(self) -> None:
        """Cancel all running and waiting work."""
        self._activity.cancel(*(item.id for item in self.running))
        for handle in self._sync.running_handles:
            handle.cancel()
        self._evals.stop()
        for chat in self._answering:
            chat.stop()

    async def idle(self) -> None:
        """Wait until nothing but watches runs or waits; await it on the owner loop."""
        await asyncio.gather(*self._sync.running_handles, return_exceptions=True)
        if (run := self._evals.running_task) is not None:
            await asyncio.wait([run])
        for chat in self._answering:
            await until(chat.slice, lambda state: state.phase == "idle")
        await until(self._activity.slice, lambda _: not self.running)
