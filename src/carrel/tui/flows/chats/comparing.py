"""Comparisons of chats: adding a side, voting, differences, continuing with one side."""

from itertools import combinations

from textual.content import Content

from carrel.store.agents.formatting import FieldRow
from carrel.store.comparison.formatting import has_answer
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.chat import VotesDialog
from carrel.tui.dialogs.core.ask import Ask, Option
from carrel.tui.dialogs.core.changes import Changes
from carrel.tui.flows.agents.choice import choose_agent

TIE, NOTE, ALL = "tie", "note", "all"


async def add(place: MainScreen) -> bool:
    """Add another agent, version or draft beside the open chat."""
    chosen = await choose_agent(place, "Compare with", versions=True, drafts=True)
    if chosen is None:
        return False
    await place.open(place.store.comparison.add(chosen))
    return True


async def vote(place: MainScreen) -> None:
    """Vote on the last answers, note something about them, or show all votes."""
    comparison = place.store.comparison
    options = [Option(str(n), name, key=str(n + 1)) for n, name in _answer_names(place)]
    if options:
        options.append(Option(TIE, "Tie", "none is better", key="t"))
        options.append(Option(NOTE, "Write a note…", key="n"))
    options.append(Option(ALL, "All votes…", "per version, over all comparisons", key="a"))
    chosen = await place.choose("Which answer is best?", options)
    if chosen == NOTE:
        if text := await place.ask(Ask("A note about these answers")):
            await comparison.note(text)
    elif chosen == ALL:
        await place.ask(VotesDialog(await comparison.count_votes()))
    elif chosen is not None:
        await comparison.vote(None if chosen == TIE else int(chosen))


async def go_on(place: MainScreen) -> bool:
    """Continue with one side alone."""
    options = [Option(str(n), name, key=str(n + 1)) for n, name in _names(place)]
    chosen = await place.choose("Go on with", options)
    if chosen is None:
        return False
    await place.open(place.store.comparison.go_on(int(chosen)))
    return True


async def compare_agents(place: MainScreen) -> None:
    """Show the differing fields of two sides' agents."""
    pair = await _pair(place, _names(place))
    if pair is not None:
        await _show(place, pair, place.store.comparison.compare_agents(*pair))


async def compare_answers(place: MainScreen) -> None:
    """Show the differences between two finished answers."""
    names = _answer_names(place)
    if len(names) < 2:
        place.notice("Two finished answers can be compared: wait for them.")
        return
    pair = await _pair(place, names)
    if pair is not None:
        await _show(place, pair, place.store.comparison.compare_answers(*pair))


async def _show(place: MainScreen, pair: tuple[int, int], rows: tuple[FieldRow, ...]) -> None:
    old, new = (place.store.comparison.titles[side] for side in pair)
    about = Content("" if rows else "The agents are the same.")
    heading = f"{old} → {new}"
    await place.ask(Changes(heading, about, rows, [("close", "Close")]))


async def _pair(place: MainScreen, names: list[tuple[int, str]]) -> tuple[int, int] | None:
    """Return two sides by number, or None; ask if there are more than two."""
    pairs = {f"{old} {new}": (old, new) for (old, _), (new, _) in combinations(names, 2)}
    named = dict(names)
    options = [Option(key, f"{named[old]} → {named[new]}") for key, (old, new) in pairs.items()]
    chosen = await place.choose("What differs between", options)
    return None if chosen is None else pairs[chosen]


def _names(place: MainScreen) -> list[tuple[int, str]]:
    """Return the sides' numbers with their names, or with aliases while names are hidden."""
    return [*enumerate(place.store.comparison.titles)]


def _answer_names(place: MainScreen) -> list[tuple[int, str]]:
    chats = place.store.comparison.chats
    return [(at, name) for at, name in _names(place) if has_answer(chats[at].slice.value)]
