"""The way of a draft: typed in a form or an editor, looked at, then saved, tried or dropped."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path

from textual.content import Content

from carrel.editor import EditorError, edit
from carrel.store.agents.agent_yaml import YAMLError, from_yaml
from carrel.store.agents.compare import compare_agents
from carrel.store.agents.drafts import Draft, nobody
from carrel.store.agents.words import (
    changed_field_rows,
    models_words,
    next_version,
    unlisted_words,
    version_name,
)
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.libraries.state import LibrariesState
from carrel.tui.dialogs.agent import AgentForm, Filled
from carrel.tui.dialogs.changes import Changes
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.agents import Agent


def library_names(place: Place) -> Mapping[str, str]:
    """The libraries' names by their ids."""
    return {item.id: item.name for item in place.store.libraries.slice.value.items}


def fill_in(place: Place, draft: Draft) -> None:
    """Opens the form of a draft; what is typed is kept on disk meanwhile."""
    store = place.store

    def filled(filled: Filled | None) -> None:
        if filled is None:
            return
        if filled.then == "yaml":
            _keep(place, filled.draft, told=False)
            place.app.run_worker(write(place, filled.draft), exit_on_error=False)
        elif filled.then == "save":
            review(place, filled.draft)
        else:
            _keep(place, filled.draft)

    def show(libraries: LibrariesState) -> None:
        form = AgentForm(
            draft,
            f"Edit {draft.name}" if draft.agent_id else "New agent",
            store.session.slice.value.models,
            libraries.items,
            store.agents.keep,
        )
        place.app.push_screen(form, filled)

    place.once_loaded(store.libraries, show)


async def write(place: Place, draft: Draft) -> None:
    """Has a draft edited as YAML in the person's editor, and looks at what comes of it."""
    agents, libraries = place.store.agents, place.store.libraries
    if not libraries.slice.value.loaded:
        await libraries.load()
    written = agents.write(draft, library_names(place))
    path = await written
    if path is None:
        if written.error is not None:
            place.workbench.show_problem(written.error)
        return
    try:
        async with _suspended(place):
            text = await asyncio.to_thread(edit, path)
        review(place, from_yaml(text, draft), make=False)
    except EditorError as error:
        place.workbench.show_problem(Problem("The editor did not work", str(error)))
    except YAMLError as error:
        _ask_again(place, draft, path, str(error))


def _ask_again(place: Place, draft: Draft, path: Path, reason: str) -> None:
    def answered(yes: bool | None) -> None:
        if yes:
            place.app.run_worker(write(place, draft), exit_on_error=False)
        else:
            place.notice("What you wrote is kept: F4 goes on with it.")

    about = [labels.block(reason, "$failed"), Content(""), labels.line(str(path), "$muted")]
    place.app.push_screen(Confirm("This cannot be saved yet", about, "Edit again"), answered)


def review(place: Place, draft: Draft, *, make: bool = True) -> None:
    """Shows what a draft would change, before anything is sent.

    A new agent is made at once; it is shown first unless `make`.
    """
    _keep(place, draft, told=False)
    agent = _active(place, draft)
    if draft.agent_id is None or agent is None:
        if make:
            _make(place, draft)
        else:
            _review_new(place, draft)
        return
    if not draft.differs_from(agent):
        place.do(place.store.agents.drop(draft.id))
        place.notice("Nothing changed. No version was made.")
        return
    try:
        draft.update(agent)
    except ProblemError as error:
        place.workbench.show_problem(error.problem)
        return

    version = next_version(agent)
    about = labels.line(f"{version_name(agent.version)} is active now. What changes:")
    if draft.message:
        about = Content("\n").join([labels.line(f"“{draft.message}”", "italic"), about])
    if doubt := _doubt(place, draft):
        about = Content("\n").join([doubt, about])
    rows = changed_field_rows(compare_agents(agent, draft.preview(agent)), library_names(place))
    answers = (
        ("drop", "Drop it"),
        ("edit", "Edit"),
        ("try", "Try in chat"),
        ("save", f"Save as {version}"),
    )
    place.app.push_screen(
        Changes(f"Save this as {agent.name} {version}?", about, rows, answers),
        partial(_answered, place, draft),
    )


def _review_new(place: Place, draft: Draft) -> None:
    """Shows a new agent before it is made."""
    try:
        draft.create()
    except ProblemError as error:
        place.workbench.show_problem(error.problem)
        return

    nothing = nobody()
    rows = changed_field_rows(compare_agents(nothing, draft.preview(nothing)), library_names(place))
    about = _doubt(place, draft) or labels.line("Nothing was sent yet. It would have:")
    answers = (("drop", "Drop it"), ("edit", "Edit"), ("save", "Make it"))
    place.app.push_screen(
        Changes(f"Make {draft.name}?", about, rows, answers), partial(_answered, place, draft)
    )


def _answered(place: Place, draft: Draft, answer: str | None) -> None:
    """Does what was chosen in the review of a draft."""
    match answer:
        case "save":
            _save(place, draft)
        case "try":
            try_in_chat(place, draft)
        case "edit":
            fill_in(place, draft)
        case "drop":
            drop(place, draft)
        case _:
            place.notice("Kept as a draft.")


def try_in_chat(place: Place, draft: Draft) -> None:
    """Opens a chat with a draft beside one with the active version."""
    try:
        agent = draft.create()
    except ProblemError as error:
        place.workbench.show_problem(error.problem)
        return
    _keep(place, draft, told=False)
    store = place.store
    if draft.agent_id is None:
        store.beside.leave()
        place.open_chat(store.chat.try_draft(agent))
    else:
        place.do(store.chat.new(draft.agent_id))
        place.open_chat(store.beside.try_draft(agent, draft.agent_id))


def drop(place: Place, draft: Draft) -> None:
    """Drops a draft, once that is meant."""

    def answered(yes: bool | None) -> None:
        if yes:
            place.do(place.store.agents.drop(draft.id))

    about = [labels.line(draft.name, "bold"), Content("What was not saved is gone then.")]
    place.app.push_screen(Confirm("Drop this draft?", about, "Drop"), answered)


def _make(place: Place, draft: Draft) -> None:
    """Makes a new agent; asks first where its model may not answer."""
    doubt = _doubt(place, draft)
    if doubt is None:
        _save(place, draft)
        return

    def answered(yes: bool | None) -> None:
        if yes:
            _save(place, draft)
        else:
            fill_in(place, draft)

    about = [doubt, labels.line(models_words(place.store.session.slice.value.models), "$muted")]
    place.app.push_screen(Confirm(f"Make {draft.name} all the same?", about, "Make"), answered)


def _doubt(place: Place, draft: Draft) -> Content | None:
    """A warning where the service does not list the draft's model."""
    model = draft.fields.get("model", "")
    if not place.store.session.lacks(model):
        return None
    return labels.line(unlisted_words(model), "$failed")


def _save(place: Place, draft: Draft) -> None:
    def saved(agent: Agent | None) -> None:
        if agent is None:
            place.notice("Nothing changed. No version was made.")
        elif draft.agent_id is None:
            place.notice(f"Made {agent.name}, {version_name(agent.version)}.")

    place.do(place.store.agents.save(draft), saved)


def _keep(place: Place, draft: Draft, *, told: bool = True) -> None:
    agents = place.store.agents

    def kept(_: object) -> None:
        if told and any(each.id == draft.id for each in agents.slice.value.drafts):
            place.notice("Kept as a draft.")

    place.do(agents.keep(draft), kept)


def _active(place: Place, draft: Draft) -> Agent | None:
    items = place.store.agents.slice.value.items
    return next((agent for agent in items if agent.id == draft.agent_id), None)


@contextlib.asynccontextmanager
async def _suspended(place: Place) -> AsyncIterator[None]:
    """Gives the terminal to another program. The app goes on meanwhile, and draws nothing."""
    # ctrl+c is for that program, which is in the same group of processes.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with place.app.batch_update(), place.app.suspend():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
