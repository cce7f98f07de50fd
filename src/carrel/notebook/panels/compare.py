"""The same questions to several agents, versions or drafts, side by side."""

from html import escape
from typing import Any

from carrel.notebook.cells.cell import answer_progress
from carrel.notebook.cells.wait import wait_for
from carrel.notebook.panels.chat import ChatPanel
from carrel.notebook.panels.core.base import Json, Panel, forward, intent, problem_json
from carrel.notebook.panels.core.changes import changes_json
from carrel.notebook.results.answer import Answer, last_answer
from carrel.store.agents.formatting import FieldRow
from carrel.store.comparison import formatting
from carrel.store.comparison.service import VOTE_FIRST, ComparisonService
from carrel.store.comparison.state import HEADINGS
from carrel.store.core.problem import ProblemError
from carrel.store.store import Store


class ComparePanel(Panel, view="compare"):
    """Chats side by side under one prompt; `chats` are their panels in the sides' order."""

    _title = "Compare"

    def __init__(self, store: Store, comparison: ComparisonService, **options: Any) -> None:
        self._comparison = comparison
        height = options.get("height", 560)
        self.chats = tuple(
            ChatPanel(store, service, asks=False, height=max(height - 130, 160))
            for service in comparison.every[: len(comparison.chats)]
        )
        options = {"height": 560, **options}
        super().__init__(store, panels=self.chats, own=comparison, **options)
        self._follow(
            comparison.slice, *(service.slice for service in comparison.every[: len(self.chats)])
        )

    @property
    def votes(self) -> str:
        """The votes of this comparison per version; `bench.votes()` counts all comparisons."""
        record = self._comparison.record
        return "" if record is None else formatting.tally_words(record)

    def ask(self, text: str, *, timeout: float | None = None) -> list[Answer]:
        """Ask all chats at once, as typing does, and wait for the answers in order."""
        wait_for(self._store, self._comparison.send(text), timeout, self._progress)
        chats = self._comparison.every[: len(self._comparison.chats)]
        return [last_answer(self._store, chat.slice.value) for chat in chats]

    def _progress(self) -> str:
        session = self._store.session.slice.value
        states = [chat.slice.value for chat in self._comparison.chats]
        return "".join(
            f"<p><strong>{escape(name)}</strong></p>{answer_progress(session, state)}"
            for name, state in zip(self._comparison.titles, states, strict=True)
            if state.turns
        )

    def _view(self) -> Json:
        comparison, record = self._comparison, self._comparison.record
        states = [chat.slice.value for chat in comparison.chats]
        order = comparison.slice.value.order
        seeds = {state.parameters.seed for state in states}
        idle = all(state.phase == "idle" for state in states)
        judged = ""
        if record is not None:
            words = (
                formatting.judgement_words(record, formatting.questions(states[0])),
                formatting.tally_words(record),
            )
            judged = " · ".join(filter(None, words))
        return {
            "chats": [
                {
                    "id": index,
                    "panel": f"anywidget:{panel.model_id}",
                    "place": order.index(index) if index in order else None,
                }
                for index, panel in enumerate(self.chats)
            ],
            "names": comparison.titles,
            "busy": not idle,
            "begun": any(state.turns for state in states),
            "compared": record is not None,
            "answered": idle and any(map(formatting.has_answer, states)),
            "hidden": comparison.slice.value.hidden,
            "blind": record is not None and record.blind_after is not None,
            "seed": len(seeds) == 1 and None not in seeds,
            "judged": judged,
            "problem": problem_json(comparison.slice.value.error),
        }

    async def draw_still(self) -> str:
        """Return the chats side by side."""
        sides = [
            f"<div>{await self.chats[number].draw_still()}</div>"
            for number in self._comparison.slice.value.order
            if number < len(self.chats)
        ]
        return f'<div class="sides">{"".join(sides)}</div>'

    _on_send = forward("_comparison", ComparisonService.send, "text", waits=False)
    _on_retry = forward("_comparison", ComparisonService.retry, waits=False)
    _on_stop = forward("_comparison", ComparisonService.stop)
    _on_vote = forward("_comparison", ComparisonService.vote, "place")

    @intent
    async def _on_votes(self) -> Json:
        """Return the votes of all comparisons."""
        if self._comparison.slice.value.hidden:
            raise ProblemError(VOTE_FIRST)
        found = await self._comparison.count_votes()
        return {"head": HEADINGS, "rows": [row.cells for row in found]}

    _on_note = forward("_comparison", ComparisonService.note, "text")
    _on_blind = forward("_comparison", ComparisonService.set_blind, "on")
    _on_seed = forward("_comparison", ComparisonService.set_same_seed, "on")
    _on_go_on = forward("_comparison", ComparisonService.go_on, "place")

    @intent
    async def _on_agents_differ(self, old: int, new: int) -> Json:
        return self._differences(old, new, self._comparison.compare_agents(old, new))

    @intent
    async def _on_answers_differ(self, old: int, new: int) -> Json:
        return self._differences(old, new, self._comparison.compare_answers(old, new))

    def _differences(self, old: int, new: int, rows: tuple[FieldRow, ...]) -> Json:
        names = self._comparison.titles
        return {
            "title": f"{names[old]} → {names[new]}" + ("" if rows else ": the agents are the same"),
            "rows": changes_json(rows),
        }
