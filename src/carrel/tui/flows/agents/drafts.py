"""Drafts of agents: edited in a form or an editor, reviewed, then saved, tried or dropped."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.content import Content

from carrel.store.agents.agent_yaml import from_yaml
from carrel.store.agents.drafts import Draft
from carrel.store.agents.formatting import models_words, new_agent_rows, version_name
from carrel.store.agents.review import NOTHING_CHANGED, DraftReview
from carrel.store.agents.review import review as review_draft
from carrel.store.agents.starters import starters
from carrel.store.comparison.state import Side
from carrel.store.core.problem import Problem
from carrel.system.editor import EditorError, edit
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.agent import AgentForm
from carrel.tui.dialogs.core.ask import Option
from carrel.tui.dialogs.core.changes import Changes
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.terminal.outside import suspend
from carrel.tui.theme import labels
from carrel.wire.generation.agents import Agent
from carrel.yamlfile import YAMLError

_BLANK, _COPY = "blank", "copy"


def library_names(place: MainScreen) -> Mapping[str, str]:
    """Return the libraries' names by id."""
    return {item.id: item.name for item in place.store.libraries.slice.value.items}


async def begin(place: MainScreen, version: Agent | None) -> None:
    """Open the form of a new agent: blank, from a starter or `version`, or a saved draft."""
    state = place.store.agents.slice.value
    options = [Option(_BLANK, "Nothing", "a blank form", key="n")]
    if version is not None:
        name = f"{version.name} {version_name(version.version)}"
        options.append(Option(_COPY, f"A copy of {name}", key="c"))
    shipped = {f"starter {one.name}": one for one in starters()}
    options += [Option(id, one.name, one.about) for id, one in shipped.items()]
    unsaved = new_agent_rows(state, time.time())
    options += [Option(row.id, f"✎ {row.name}", row.age) for row in unsaved]
    start = await place.choose("New agent from", options)
    models = place.store.session.slice.value.models
    model = models[0] if models else ""
    if start == _BLANK:
        await fill_in(place, Draft.blank(model))
    elif start in shipped:
        await fill_in(place, shipped[start].draft(model))
    elif start == _COPY and version is not None:
        await fill_in(place, Draft.copy_of(version))
    elif start is not None:
        await fill_in(place, next(draft for draft in state.drafts if draft.id == start))


async def fill_in(place: MainScreen, draft: Draft) -> None:
    """Open the form of a draft, and perform the action chosen there.

    Input is saved as a draft meanwhile.
    """
    store = place.store
    libraries = await place.load(store.libraries)
    title = f"Edit {draft.name}" if draft.agent_id else "New agent"
    models = store.session.slice.value.models
    form = AgentForm(draft, title, models, libraries.items, store.agents.keep)
    filled = await place.ask(form)
    if filled is None:
        return
    draft, then = filled
    match then:
        case "save":
            await review(place, draft)
        case "yaml":
            place.do(store.agents.keep(draft))
            await write(place, draft)
        case "leave":
            await _keep(place, draft)


async def write(place: MainScreen, draft: Draft) -> None:
    """Edit a draft as YAML in the user's editor until it is valid, then review it."""
    agents, libraries = place.store.agents, place.store.libraries
    if not libraries.slice.value.loaded:
        await libraries.load().settled()
    while True:
        path = await agents.write(draft, library_names(place))
        try:
            async with suspend(place.app):
                text = await asyncio.to_thread(edit, path)
            edited = from_yaml(text, draft)
        except EditorError as error:
            place.workbench.show_problem(Problem("The editor did not work", str(error)))
            return
        except YAMLError as error:
            if not await _edit_again(place, path, str(error)):
                place.notice("Your text is kept: F4 continues.")
                return
        else:
            await review(place, edited, make=False)
            return


async def _edit_again(place: MainScreen, path: Path, reason: str) -> bool:
    about = [labels.block(reason, "$failed"), Content(""), labels.line(str(path), "$muted")]
    return await place.ask(Confirm("This cannot be saved yet", about, "Edit again")) is True


async def review(place: MainScreen, draft: Draft, *, make: bool = True) -> None:
    """Show the changes of a draft before anything is sent, and perform the chosen action.

    A new agent is shown first, unless `make` creates it at once.
    """
    place.do(place.store.agents.keep(draft))
    found = _review(place, draft)
    if found is None:
        place.do(place.store.agents.drop(draft.id))
        place.notice(NOTHING_CHANGED)
        return
    if found.is_new and make:
        await _make(place, draft, found.doubt)
        return
    question = Changes(
        found.title, _describe(found), found.rows, _answers(found), "keeps the draft"
    )
    match await place.ask(question):
        case "save":
            await _save(place, draft)
        case "try":
            try_in_chat(place, draft)
        case "edit":
            await fill_in(place, draft)
        case "drop":
            await drop(place, draft)
        case _:
            place.notice("Kept as a draft.")


def _review(place: MainScreen, draft: Draft) -> DraftReview | None:
    store = place.store
    agents = store.agents.slice.value.items
    return review_draft(draft, agents, library_names(place), store.session)


def _describe(found: DraftReview) -> Content:
    message = labels.line(f"“{found.message}”", "italic") if found.message else None
    doubt = labels.line(found.doubt, "$failed") if found.doubt else None
    if found.is_new:
        return doubt or labels.line(found.about)
    return Content("\n").join(filter(None, [doubt, message, labels.line(found.about)]))


def _answers(found: DraftReview) -> Sequence[tuple[str, str]]:
    tried = () if found.is_new else (("try", "Try draft"),)
    return (("drop", "Discard"), ("edit", "Edit"), *tried, ("save", found.verb))


def try_in_chat(place: MainScreen, draft: Draft) -> None:
    """Open a chat with a draft beside a chat with the active version.

    Raises:
        ProblemError: the draft is not a valid agent yet.
    """
    agent = draft.create()
    store = place.store
    place.do(store.agents.keep(draft))
    if draft.agent_id is None:
        place.open_chat(store.chat.try_draft(agent))
    else:
        sides = [Side(draft.agent_id), Side(draft.agent_id, draft=agent)]
        place.open_chat(store.comparison.begin(sides))


async def drop(place: MainScreen, draft: Draft) -> None:
    """Drop a draft after confirmation."""
    about = [labels.line(draft.name, "bold"), Content("Unsaved changes are lost.")]
    if await place.ask(Confirm("Discard this draft?", about, "Discard")):
        place.do(place.store.agents.drop(draft.id))


async def _make(place: MainScreen, draft: Draft, doubt: str) -> None:
    """Create a new agent; ask first if its model may not answer."""
    if doubt:
        models = models_words(place.store.session.slice.value.models)
        about = [labels.line(doubt, "$failed"), labels.line(models, "$muted")]
        if not await place.ask(Confirm(f"Create {draft.name} anyway?", about, "Create")):
            await fill_in(place, draft)
            return
    await _save(place, draft)


async def _save(place: MainScreen, draft: Draft) -> None:
    agent = await place.store.agents.save(draft)
    if agent is not None and draft.agent_id is None:
        place.notice(f"Made {agent.name}, {version_name(agent.version)}.")
    elif agent is None:
        place.notice(NOTHING_CHANGED)


async def _keep(place: MainScreen, draft: Draft) -> None:
    """Save a draft to disk; notify the user if it differs from its version."""
    agents = place.store.agents
    await agents.keep(draft)
    if any(each.id == draft.id for each in agents.slice.value.drafts):
        place.notice("Kept as a draft.")
