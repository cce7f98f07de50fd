"""Comparing chats: another side, a vote, what differs, going on with one."""

from itertools import combinations

from textual.content import Content

from carrel.store.agents.words import FieldRow
from carrel.store.chat.words import title
from carrel.store.comparison.state import Side
from carrel.store.comparison.words import (
    agent_differences,
    answer_differences,
    answered,
    last_answer,
)
from carrel.store.core.problem import ProblemError
from carrel.tui.dialogs.ask import Ask, Thing
from carrel.tui.dialogs.changes import Changes
from carrel.tui.dialogs.votes import VotesDialog
from carrel.tui.flows.agent_choice import choose_agent
from carrel.tui.looks import labels
from carrel.tui.place import Place

TIE, NOTE, ALL = "tie", "note", "all"


async def add(place: Place) -> bool:
    """Puts another agent, another version, or a draft, beside the open chat."""
    chosen = await choose_agent(place, "Compare with", versions=True, drafts=True)
    if chosen is None:
        return False
    try:
        draft = None if chosen.draft is None else chosen.draft.create()
    except ProblemError as error:  # what was typed so far is no agent yet
        place.workbench.show_problem(error.problem)
        return False
    side = Side(chosen.agent_id, chosen.version, draft)
    return await place.opened(place.store.comparison.add(side))


async def vote(place: Place) -> None:
    """Votes for one of the last answers, writes a note about them, or shows all votes."""
    comparison = place.store.comparison
    things = [Thing(str(number), name) for number, name in _answered(place)]
    things += [Thing(TIE, "Tie", "none is better"), Thing(NOTE, "Write a note…")]
    things.append(Thing(ALL, "All votes…", "per version, over all comparisons"))
    chosen = await place.choose("Which answer is best?", things)
    if chosen == NOTE:
        if text := await place.ask(Ask("A note about these answers")):
            await place.finish(comparison.note(text))
    elif chosen == ALL:
        votes = await place.finish(comparison.count_votes())
        if votes is not None:
            await place.ask(VotesDialog(votes))
    elif chosen is not None:
        await place.finish(comparison.vote(None if chosen == TIE else int(chosen)))


async def go_on(place: Place) -> bool:
    """Goes on with one side alone."""
    things = [Thing(str(number), name) for number, name in _names(place)]
    chosen = await place.choose("Go on with", things)
    return chosen is not None and await place.opened(place.store.comparison.go_on(int(chosen)))


async def agents_differ(place: Place) -> None:
    """Shows in which fields the agents of two sides differ."""
    pair = await _pair(place, _names(place))
    if pair is None:
        return
    old, new = (place.store.comparison.chats[number].fields for number in pair)
    if old is None or new is None:
        place.notice("The agents are still being loaded.")
        return
    await _show(place, pair, agent_differences(old, new), "The agents are the same.")


async def answers_differ(place: Place) -> None:
    """Shows what differs between two finished answers."""
    names = _answered(place)
    if len(names) < 2:
        place.notice("Two finished answers can be compared: wait for them.")
        return
    pair = await _pair(place, names)
    if pair is None:
        return
    chats = place.store.comparison.chats
    old, new = (last_answer(chats[number].slice.value) for number in pair)
    if old is not None and new is not None:
        await _show(place, pair, answer_differences(old, new), "")


async def _show(place: Place, pair: tuple[int, int], rows: tuple[FieldRow, ...], none: str) -> None:
    names = dict(_names(place))
    about = labels.line(none) if not rows else Content("")
    heading = f"{names[pair[0]]} → {names[pair[1]]}"
    await place.ask(Changes(heading, about, rows, [("close", "Close")]))


async def _pair(place: Place, names: list[tuple[int, str]]) -> tuple[int, int] | None:
    """The places of two sides; they are asked for where there are more."""
    pairs = {f"{old} {new}": (old, new) for (old, _), (new, _) in combinations(names, 2)}
    named = dict(names)
    things = [Thing(key, f"{named[old]} → {named[new]}") for key, (old, new) in pairs.items()]
    chosen = await place.choose("What differs between", things)
    return None if chosen is None else pairs[chosen]


def _names(place: Place) -> list[tuple[int, str]]:
    """The sides by their places, with their names, or the aliases while those are hidden."""
    chats = place.store.comparison.chats
    return [(number, title(chat.slice.value)) for number, chat in enumerate(chats)]


def _answered(place: Place) -> list[tuple[int, str]]:
    chats = place.store.comparison.chats
    return [(at, name) for at, name in _names(place) if answered(chats[at].slice.value)]
