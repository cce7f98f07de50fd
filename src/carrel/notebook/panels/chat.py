"""The Chat panel."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, Literal

from carrel.notebook.cells.cell import answer_progress
from carrel.notebook.cells.wait import permission, wait_for
from carrel.notebook.html.markdown import GrowingText, fold_thinking, to_blocks, typed_to_html
from carrel.notebook.panels.core.base import Json, Panel, forward, intent, problem_json
from carrel.notebook.panels.core.uploads import Offer
from carrel.notebook.results.answer import Answer, check_question, last_answer, partial_on_error
from carrel.store.chat import formatting
from carrel.store.chat.answering.attachments import as_mention
from carrel.store.chat.conversation import Attachment
from carrel.store.chat.formatting import SourceRow, TurnRow
from carrel.store.chat.parameters import AGENTS_OWN, Parameters
from carrel.store.chat.service import ChatService
from carrel.store.chat.sources import source_of
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.handle import Cancelled, Handle
from carrel.store.core.problem import ProblemError
from carrel.store.documents.boxes import rect_of
from carrel.store.evals.state import DEFAULT_FILE
from carrel.store.store import Store
from carrel.store.tools.formatting import consent_choices, consent_lines, consent_title
from carrel.store.tools.state import Permission
from carrel.wire.generation.completions import Passage
from carrel.wire.libraries import mark_matches

PAGE_WIDTH = 900
"""Width of a source's page in pixels; the view scales it to its pane."""


class ChatPanel(Panel, view="chat"):
    """A chat with an agent: the answer streams, can be stopped and shows its sources.

    With its own service it shows only that chat, without the list of sessions. A panel without a
    prompt gets its questions from the enclosing panel.
    """

    _title = "Chat"
    _deletes = "chats"

    def __init__(
        self, store: Store, chat: ChatService | None = None, *, asks: bool = True, **options: Any
    ) -> None:
        self._chat = chat or store.chat
        self._asks = asks
        self._single = chat is not None
        self._answer: tuple[str | None, int] | None = None
        self._sent: tuple[str, ...] = ()
        self._text = GrowingText()
        super().__init__(store, own=chat, **options)
        self._follow(self._chat.slice, store.agents.slice, store.session.slice, store.tools.slice)
        store.agents.load()

    def ask(self, text: str, *, timeout: float | None = None) -> Answer:
        """Ask in this chat, as typing does, and wait for the answer.

        If the answer fails or is stopped, the error has its text so far in `partial`.
        """
        check_question(text)
        store, chat = self._store, self._chat
        with partial_on_error(store, chat):
            wait_for(
                store,
                chat.send(text),
                timeout,
                lambda: answer_progress(store.session.slice.value, chat.slice.value),
                look=permission(store),
            )
        return last_answer(self._store, self._chat.slice.value)

    def refresh(self) -> None:
        """Draw the current state; a streaming answer sends only its changes, as a message."""
        super().refresh()
        state = self._chat.slice.value
        is_writing = bool(state.turns) and state.turns[-1].status == "writing"
        answer = (state.session_id, len(state.turns)) if is_writing else None
        if answer != self._answer:
            self._answer, self._sent, self._text = answer, (), GrowingText()
        if answer is not None:
            blocks = tuple(self._text.blocks(state.turns[-1].text))
            if blocks != self._sent:
                start = _common_length(self._sent, blocks)
                self._sent = blocks
                self._post(None, self._delta(start))

    def _greet(self, view: str) -> None:
        if self._sent:
            self._post(view, self._delta(0))

    def _delta(self, start: int) -> Json:
        """Return the blocks of the streaming answer from index `start` on."""
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
        if state.alias:
            state = replace(state, agent_id=None, pinned=None, model=None, parameters=AGENTS_OWN)
        now = time.time()
        # Whole seconds: tenths would send the whole state each time.
        waited = now if state.started is None else state.started + int(now - state.started)
        agents = self._store.agents.slice.value
        return {
            "single": self._single,
            "asks": self._asks,
            "session": state.session_id,
            "sessions": [
                {"id": row.id, "name": row.title, "note": row.age}
                for row in formatting.session_rows(state, now)
            ],
            "sessions_title": formatting.sessions_title(state),
            "search": state.search,
            "agents": [
                {
                    "id": agent.id,
                    "name": agent.name,
                    "version": agent.version,
                    "versions": sorted(agent.versions, reverse=True),
                }
                for agent in ([] if state.alias else agents.items)
            ],
            "agent": state.agent_id,
            "pinned": state.pinned,
            "draft": state.draft,
            "title": formatting.title(state) if state.session_id else "",
            "tokens": formatting.tokens(state),
            "model": state.model or "",
            "models": [] if state.alias else list(self._store.session.slice.value.models),
            "parameters": _parameters(state.parameters),
            "parameter_words": formatting.parameter_words(state),
            "turns": _turns(state),
            "found": state.found,
            "prompt": formatting.prompt_title(state),
            "editing": state.editing,
            "attached": [_attachment(one) for one in state.attached],
            "uploading": state.uploading,
            "history": list(state.history[-50:]),
            "busy": state.phase != "idle",
            "phase": formatting.phase_words(state, waited),
            "permission": self._permission(),
            "empty": self._empty(),
            "case_file": str(self._store.evals.slice.value.file or DEFAULT_FILE),
            "problem": problem_json(state.error),
        }

    def _subject(self) -> str | None:
        return self._chat.slice.value.session_id

    def _empty(self) -> str:
        if self._chat.slice.value.session_id is not None:
            return "Ask something."
        agents = self._store.agents.slice.value
        if agents.loaded and not agents.items:
            return "No agents yet. Make one in Agents, or run bench.create_agent(…)."
        return "Choose an agent, then New."

    def _loads(self) -> Sequence[Handle[Any]]:
        agents = self._store.agents
        loading = () if agents.slice.value.loading else (agents.load(),)
        return loading if self._single else (*loading, self._chat.load_sessions())

    async def draw_still(self) -> str:
        """Return the transcript with its sources."""
        state = self._chat.slice.value
        rows = formatting.turn_rows(state)
        name = formatting.title(state) if state.session_id else ""
        parts = [f"<p><strong>{escape(name or self._title)}</strong></p>"]
        return "".join([*parts, *map(_still_turn, rows)]) if rows else parts[0]

    def is_changing(self) -> bool:
        """Return whether an answer is being written."""
        return self._chat.slice.value.phase != "idle"

    # Sessions and agents

    @intent
    async def _on_begin(self, agent: str) -> None:
        await self._chat.new(agent)

    _on_choose = forward("_chat", ChatService.choose, "agent", "version")
    _on_resume = forward("_chat", ChatService.resume, "session")
    _on_search = forward("_chat", ChatService.search_sessions, "text")
    _on_delete = forward("_chat", ChatService.delete_session, "session")

    @intent
    async def _on_parameters(self, values: dict[str, str]) -> None:
        try:
            parameters = Parameters.of(values)
        except ValueError as error:
            raise ProblemError("Not used", str(error)) from None
        await self._chat.set_parameters(parameters)

    @intent
    async def _on_model(self, model: str) -> None:
        parameters = self._chat.slice.value.parameters
        await self._chat.set_parameters(replace(parameters, model=model or None))

    @intent
    async def _on_export(self, form: Literal["markdown", "json"]) -> str:
        return self._chat.export(form)

    def _permission(self) -> Json | None:
        """Return the oldest open question for consent, or None."""
        if self._chat.slice.value.phase == "idle" or not self._store.tools.slice.value.asking:
            return None
        consent = self._store.tools.slice.value.asking[0]
        runs, *about = consent_lines(consent)
        return {
            "key": consent.key,
            "title": consent_title(consent),
            "runs": runs,
            "about": " ".join(about),
            "choices": [*consent_choices(consent).items()],
        }

    @intent
    async def _on_permit(self, key: str, permission: Permission) -> None:
        for consent in self._store.tools.slice.value.asking:
            if consent.key == key:
                await self._store.tools.answer(consent, permission)

    # Questions

    @intent
    async def _on_send(self, text: str) -> None:
        calls = self._chat.slice.value.conversation.open_calls()
        if calls:
            self._chat.answer_call(calls[0].id, text).check()
        else:
            self._chat.send(text).check()

    _on_retry = forward("_chat", ChatService.retry, waits=False)
    _on_stop = forward("_chat", ChatService.stop)

    @intent
    async def _on_edit(self, turn: int | None) -> str:
        """Edit a question and return its text."""
        await self._chat.edit(turn)
        return "" if turn is None else self._chat.slice.value.turns[turn].text

    _on_variant = forward("_chat", ChatService.choose_variant, "turn", "number")

    @intent
    async def _on_text(self, turn: int) -> str:
        """Return a turn's raw text, for copying."""
        return self._chat.slice.value.turns[turn].text

    @intent
    async def _on_take_case(self, turn: int, good: bool, file: str) -> str:
        """Make an answer a test case in a set's file; return the file's name."""
        from carrel.store.evals.cases import case_of

        case = case_of(self._chat.slice.value, turn, good=good)
        await self._store.evals.add_case(Path(file), case)
        return Path(file).name

    @intent
    async def _on_attach(self, files: list[Offer]) -> None:
        for offer in files:
            self._chat.attach(self._files.source(offer))

    @intent
    async def _on_attach_known(
        self, kind: Literal["file", "document"], id: str, name: str, library: str | None
    ) -> None:
        await self._chat.attach_known(Attachment(kind, id, name, library))

    @intent
    async def _on_detach(self, id: str) -> None:
        for one in self._chat.slice.value.attached:
            if one.id == id:
                await self._chat.detach(one)

    @intent
    async def _on_names(self, text: str) -> list[Json]:
        """Return completions of a partly typed name."""
        try:
            found = await self._chat.names_like(text)
        except Cancelled:  # more was typed meanwhile
            return []
        return [_attachment(each) for each in found]

    # Sources

    @intent
    async def _on_page(self, turn: int, source: int) -> bytes | None:
        """Return the page of a source as PNG, or None."""
        passage = self._passage(turn, source)
        return (await self._store.sources.excerpt(passage, PAGE_WIDTH)).png

    @intent
    async def _on_open(self, turn: int, source: int) -> None:
        passage = self._passage(turn, source)
        self._store.documents.open(source_of(passage), passage.page or 0, passage.box)

    def _passage(self, turn: int, source: int) -> Passage:
        return next(
            one for one in self._chat.slice.value.turns[turn].sources if one.index == source
        )


def _still_turn(row: TurnRow) -> str:
    notes = [f"▸ calls {call}" for call in row.calls] + ([row.note] if row.note else [])
    about = "".join(f"<p><em>{escape(note)}</em></p>" for note in notes)
    sources = "".join(f"<li>{escape(source.words)}</li>" for source in row.sources)
    drawn = f"<p>{escape(row.sources_title)}</p><ul>{sources}</ul>" if sources else ""
    thought = fold_thinking(row.thought, row.thinking)
    text = "".join(_blocks(row.text, row.typed))
    return f"<p><strong>{escape(row.speaker)}</strong></p>{thought}{text}{about}{drawn}"


def _common_length(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the length of the common prefix of two sequences."""
    pairs = zip(old, new, strict=False)
    return next(
        (at for at, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new))
    )


@lru_cache(maxsize=256)
def _blocks(text: str, typed: bool) -> list[str]:
    return [typed_to_html(text)] if typed and text else to_blocks(text)


def _turns(state: ChatState) -> list[Json]:
    return [
        {
            "id": place,
            "role": turn.role,
            "speaker": row.speaker,
            # A streaming answer is sent as deltas, not with every state.
            "figures": "" if turn.status == "writing" else row.figures,
            "blocks": None if turn.status == "writing" else _blocks(row.text, row.typed),
            "note": row.note,
            "thought": row.thought,
            "thinking": "" if turn.status == "writing" else row.thinking,
            "variant": state.conversation.variant(place),
            "calls": row.calls,
            "attached": row.attached,
            "sources_title": row.sources_title,
            "sources": [
                _source(shown, passage)
                for shown, passage in zip(row.sources, turn.sources, strict=False)
            ],
        }
        for place, (turn, row) in enumerate(
            zip(state.turns, formatting.turn_rows(state), strict=True)
        )
    ]


def _source(row: SourceRow, passage: Passage) -> Json:
    box = rect_of(passage.box)
    return {
        "id": row.number,
        "label": row.words,
        "cited": row.cited,
        "title": formatting.source_title(passage),
        "snippet": mark_matches(passage.snippet, passage.matches),
        # In percent of the page.
        "box": [100 * part for part in (box.left, box.top, box.width, box.height)] if box else None,
    }


def _attachment(one: Attachment) -> Json:
    return {
        "id": one.id,
        "kind": one.kind,
        "name": one.name,
        "library": one.library_id,
        "mention": as_mention(one.name),
    }


def _parameters(parameters: Parameters) -> dict[str, str]:
    values = {
        "model": parameters.model,
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_tokens": parameters.max_tokens,
        "seed": parameters.seed,
        "stop": parameters.stop[0] if parameters.stop else None,
        "tools": ", ".join(parameters.tools) or None,
    }
    return {name: "" if value is None else str(value) for name, value in values.items()}
