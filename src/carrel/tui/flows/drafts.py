"""A draft of an agent: typed in a form or an editor, reviewed, then saved, tried or dropped."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

from textual.content import Content

from carrel.editor import EditorError, edit
from carrel.store.agents.agent_yaml import from_yaml
from carrel.store.agents.compare import compare_agents
from carrel.store.agents.drafts import Draft, nobody
from carrel.store.agents.starters import starters
from carrel.store.agents.words import (
    changed_field_rows,
    models_words,
    new_agent_rows,
    next_version,
    unlisted_words,
    version_name,
)
from carrel.store.comparison.state import Side
from carrel.store.core.problem import Problem, ProblemError
from carrel.tui.dialogs.agent import AgentForm
from carrel.tui.dialogs.ask import Thing
from carrel.tui.dialogs.changes import Changes
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.tui.terminal.outside import suspended
from carrel.wire.agents import Agent
from carrel.yamlfile import YAMLError

_BLANK, _COPY = "blank", "copy"


def library_names(place: Place) -> Mapping[str, str]:
    """The libraries' names by their ids."""
    return {item.id: item.name for item in place.store.libraries.slice.value.items}


async def begin(place: Place, version: Agent | None) -> None:
    """Opens the form of a new agent: blank, like a starting point or `version`, or a draft that was
    left.
    """
    state = place.store.agents.slice.value
    things = [Thing(_BLANK, "Nothing", "a blank form")]
    if version is not None:
        name = f"{version.name} {version_name(version.version)}"
        things.append(Thing(_COPY, f"A copy of {name}"))
    shipped = {f"starter {one.name}": one for one in starters()}
    things += [Thing(id, one.name, one.about) for id, one in shipped.items()]
    unsaved = new_agent_rows(state, time.time())
    things += [Thing(row.id, f"✎ {row.name or 'no name yet'}", row.age) for row in unsaved]
    start = await place.choose("New agent from", things)
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


async def fill_in(place: Place, draft: Draft) -> None:
    """Opens the form of a draft, and goes on as is chosen there.

    Typed text is saved to disk as a draft meanwhile.
    """
    store = place.store
    libraries = await place.load(store.libraries)
    if libraries is None:
        return
    form = AgentForm(
        draft,
        f"Edit {draft.name}" if draft.agent_id else "New agent",
        store.session.slice.value.models,
        libraries.items,
        store.agents.keep,
    )
    filled = await place.ask(form)
    if filled is None:
        return
    match filled.then:
        case "save":
            await review(place, filled.draft)
        case "yaml":
            place.do(store.agents.keep(filled.draft))
            await write(place, filled.draft)
        case "leave":
            await _keep(place, filled.draft)


async def write(place: Place, draft: Draft) -> None:
    """Has a draft edited as YAML in the user's editor, again until it is valid, and reviews it."""
    agents, libraries = place.store.agents, place.store.libraries
    if not libraries.slice.value.loaded:
        await libraries.load()
    while True:
        path = await place.finish(agents.write(draft, library_names(place)))
        if path is None:
            return
        try:
            async with suspended(place.app):
                text = await asyncio.to_thread(edit, path)
            edited = from_yaml(text, draft)
        except EditorError as error:
            place.workbench.show_problem(Problem("The editor did not work", str(error)))
            return
        except YAMLError as error:
            if not await _edit_again(place, path, str(error)):
                place.notice("What you wrote is kept: F4 goes on with it.")
                return
        else:
            await review(place, edited, make=False)
            return


async def _edit_again(place: Place, path: Path, reason: str) -> bool:
    about = [labels.block(reason, "$failed"), Content(""), labels.line(str(path), "$muted")]
    return await place.ask(Confirm("This cannot be saved yet", about, "Edit again")) is True


async def review(place: Place, draft: Draft, *, make: bool = True) -> None:
    """Shows the changes of a draft before anything is sent, and goes on as is chosen there.

    A new agent is made at once; it is shown first unless `make`.
    """
    place.do(place.store.agents.keep(draft))
    agent = _active(place, draft)
    if agent is None and make:
        await _make(place, draft)
        return
    if agent is not None and not draft.differs_from(agent):
        place.do(place.store.agents.drop(draft.id))
        place.notice("Nothing changed. No version was made.")
        return
    try:
        question = _creation(place, draft) if agent is None else _update(place, draft, agent)
    except ProblemError as error:
        place.workbench.show_problem(error.problem)
        return
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


def _update(place: Place, draft: Draft, agent: Agent) -> Changes:
    """The question whether an agent gets a new version.

    Raises:
        ProblemError: the draft cannot be sent.
    """
    draft.update(agent)
    version = next_version(agent)
    about = labels.line(f"{version_name(agent.version)} is active now. What changes:")
    if draft.message:
        about = Content("\n").join([labels.line(f"“{draft.message}”", "italic"), about])
    if doubt := _doubt(place, draft):
        about = Content("\n").join([doubt, about])
    rows = changed_field_rows(compare_agents(agent, draft.preview(agent)), library_names(place))
    answers = (
        ("drop", "Discard"),
        ("edit", "Edit"),
        ("try", "Try draft"),
        ("save", f"Save as {version}"),
    )
    return Changes(f"Save this as {agent.name} {version}?", about, rows, answers)


def _creation(place: Place, draft: Draft) -> Changes:
    """The question whether a new agent is made.

    Raises:
        ProblemError: the draft cannot be sent.
    """
    draft.create()
    nothing = nobody()
    rows = changed_field_rows(compare_agents(nothing, draft.preview(nothing)), library_names(place))
    about = _doubt(place, draft) or labels.line("Nothing was sent yet. It would have:")
    answers = (("drop", "Discard"), ("edit", "Edit"), ("save", "Create"))
    return Changes(f"Create {draft.name}?", about, rows, answers)


def try_in_chat(place: Place, draft: Draft) -> None:
    """Opens a chat with a draft beside one with the active version."""
    try:
        agent = draft.create()
    except ProblemError as error:
        place.workbench.show_problem(error.problem)
        return
    store = place.store
    place.do(store.agents.keep(draft))
    if draft.agent_id is None:
        place.open_chat(store.chat.try_draft(agent))
    else:
        sides = [Side(draft.agent_id), Side(draft.agent_id, draft=agent)]
        place.open_chat(store.comparison.begin(sides))


async def drop(place: Place, draft: Draft) -> None:
    """Drops a draft, once that is confirmed."""
    about = [labels.line(draft.name, "bold"), Content("Unsaved changes are lost.")]
    if await place.ask(Confirm("Discard this draft?", about, "Discard")):
        place.do(place.store.agents.drop(draft.id))


async def _make(place: Place, draft: Draft) -> None:
    """Makes a new agent; asks first where its model may not answer."""
    if doubt := _doubt(place, draft):
        models = models_words(place.store.session.slice.value.models)
        about = [doubt, labels.line(models, "$muted")]
        if not await place.ask(Confirm(f"Create {draft.name} anyway?", about, "Create")):
            await fill_in(place, draft)
            return
    await _save(place, draft)


def _doubt(place: Place, draft: Draft) -> Content | None:
    """A warning where the service does not list the draft's model."""
    model = draft.fields.get("model", "")
    if not place.store.session.lacks(model):
        return None
    return labels.line(unlisted_words(model), "$failed")


async def _save(place: Place, draft: Draft) -> None:
    saving = place.store.agents.save(draft)
    agent = await place.finish(saving)
    if agent is not None and draft.agent_id is None:
        place.notice(f"Made {agent.name}, {version_name(agent.version)}.")
    elif agent is None and saving.outcome == "done":
        place.notice("Nothing changed. No version was made.")


async def _keep(place: Place, draft: Draft) -> None:
    """Saves a draft to disk, and says so unless it differs in nothing from its version."""
    agents = place.store.agents
    keeping = agents.keep(draft)
    await place.finish(keeping)
    if keeping.outcome == "done" and any(each.id == draft.id for each in agents.slice.value.drafts):
        place.notice("Kept as a draft.")


def _active(place: Place, draft: Draft) -> Agent | None:
    items = place.store.agents.slice.value.items
    return next((agent for agent in items if agent.id == draft.agent_id), None)
