"""The Chat panel."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from carrel.notebook.assets import module, style
from carrel.notebook.markdown import to_blocks
from carrel.notebook.panel import Cell, Json, Panel, finish, intent, problem_json
from carrel.store.chat import ChatService
from carrel.store.chat_state import ChatState
from carrel.store.documents import Source
from carrel.store.selectors.chat import phase_words, session_rows, title, tokens, turn_rows
from carrel.store.store import Store
from carrel.wire.completions import Passage
from carrel.wire.libraries import marked


class ChatPanel(Panel):
    """A conversation with an agent: the answer streams, can be stopped and shows its sources.

    With a service of its own it is that service's conversation alone, without the sessions.
    """

    _esm = module("chat")
    _css = style("chat")
    _title = "Chat"

    def __init__(self, store: Store, chat: ChatService | None = None, **options: Any) -> None:
        self._chat = chat or store.chat
        self._single = chat is not None
        self._answer: tuple[str | None, int] | None = None
        self._sent: tuple[str, ...] = ()
        super().__init__(store, **options)
        self._follow(self._chat.slice, store.agents.slice)
        if not self._single:
            store.agents.load()

    def refresh(self) -> None:
        """Draws the newest state; of an answer under way only what changed, as a message."""
        super().refresh()
        state = self._chat.slice.value
        writing = bool(state.turns) and state.turns[-1].status == "writing"
        answer = (state.session_id, len(state.turns)) if writing else None
        if answer != self._answer:
            self._answer, self._sent = answer, ()
        if answer is not None:
            blocks = tuple(to_blocks(state.turns[-1].text))
            if blocks != self._sent:
                start = _same(self._sent, blocks)
                self._sent = blocks
                self._post(None, self._delta(start))

    def _greet(self, view: str) -> None:
        if self._sent:
            self._post(view, self._delta(0))

    def _delta(self, start: int) -> Json:
        """The answer under way, from one block on."""
        state = self._chat.slice.value
        return {
            "kind": "delta",
            "session": state.session_id,
            "turn": len(state.turns) - 1,
            "from": start,
            "blocks": self._sent[start:],
        }

    def _view(self) -> Json:
        state = self._chat.slice.value
        now = time.time()
        # Whole seconds: the whole state would go again for each tenth of one.
        waited = now if state.started is None else state.started + int(now - state.started)
        agents = self._store.agents.slice.value
        return {
            "single": self._single,
            "session": state.session_id,
            "sessions": [
                {"id": row.id, "name": row.title, "note": row.age}
                for row in session_rows(state, now)
            ],
            "agents": [{"id": agent.id, "name": agent.name} for agent in agents.items],
            "title": title(state) if state.session_id else "",
            "tokens": tokens(state),
            "turns": _turns(state),
            "busy": state.phase != "idle",
            "phase": phase_words(state, waited),
            "empty": self._empty(),
            "problem": problem_json(state.error),
        }

    def _empty(self) -> str:
        if self._chat.slice.value.session_id is not None:
            return "Ask something."
        agents = self._store.agents.slice.value
        if agents.loaded and not agents.items:
            return "No agents yet. Make one in Agents, or run bench.create_agent(…)."
        return "Choose an agent at the left, then New."

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        rows = turn_rows(self._chat.slice.value)
        return ("Who", "Text"), [(row.speaker, row.text) for row in rows]

    @intent
    async def _on_begin(self, agent: str) -> None:
        await finish(self._chat.new(agent))

    @intent
    async def _on_resume(self, session: str) -> None:
        await finish(self._chat.resume(session))

    @intent
    async def _on_send(self, text: str) -> None:
        # The answer and its failure show in the transcript; the view need not wait for them.
        self._chat.send(text)

    @intent
    async def _on_retry(self) -> None:
        self._chat.retry()

    @intent
    async def _on_stop(self) -> None:
        await finish(self._chat.stop())

    @intent
    async def _on_open(self, library: str, document: str, name: str, page: int | None) -> None:
        self._store.documents.open(Source("document", document, name, library), page or 0)


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    """How many first items two sequences share."""
    pairs = zip(old, new, strict=False)
    return next(
        (at for at, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new))
    )


@lru_cache(maxsize=256)
def _finished(text: str) -> list[str]:
    return to_blocks(text)


def _turns(state: ChatState) -> list[Json]:
    return [
        {
            "id": index,
            "role": turn.role,
            "speaker": row.speaker,
            # An answer under way goes as deltas, not with every state.
            "figures": "" if turn.status == "writing" else row.figures,
            "blocks": None if turn.status == "writing" else _finished(turn.text),
            "note": row.note,
            "sources": [
                _source(source.words, passage)
                for source, passage in zip(row.sources, turn.sources, strict=True)
            ],
        }
        for index, (turn, row) in enumerate(zip(state.turns, turn_rows(state), strict=True))
    ]


def _source(label: str, passage: Passage) -> Json:
    page = "" if passage.page is None else f" p. {passage.page + 1}"
    return {
        "id": passage.index,
        "label": label,
        "title": f"Source {passage.index} · {passage.document_name}{page}",
        "snippet": marked(passage.snippet, passage.matches),
        "library": passage.library_id,
        "document": passage.document_id,
        "name": passage.document_name,
        "page": passage.page,
    }
