"""Chats: beginning, choosing the agent, attaching, parameters, copying, saving, deleting.

Flows that open a text field return True once it is open.
"""

from collections.abc import Sequence
from dataclasses import replace

from carrel.store.chat.service import ChatService
from carrel.store.chat.sessions.saved import SessionSummary
from carrel.store.tools.formatting import consent_choices, consent_lines, consent_title
from carrel.store.tools.state import Consent
from carrel.store.trash.formatting import LOCAL_DAYS, for_days
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.chat import ParametersForm, SaveDialog, copies
from carrel.tui.dialogs.core.ask import Choose, Option
from carrel.tui.dialogs.core.confirm import Confirm, Permit
from carrel.tui.dialogs.core.path import PathDialog
from carrel.tui.flows.agents.choice import choose_agent
from carrel.tui.theme import labels
from carrel.wire.generation.completions import Passage


async def begin(place: MainScreen) -> bool:
    """Ask for an agent and begin a chat with it."""
    chosen = await choose_agent(place, "Chat with")
    if chosen is None:
        return False
    await place.open(place.store.chat.new(chosen.agent_id, chosen.version))
    return True


async def change_agent(place: MainScreen) -> bool:
    """Switch the open chat to another agent or version."""
    chosen = await choose_agent(place, "Agent of the next answers", versions=True)
    if chosen is None:
        return False
    await place.open(place.store.chat.choose(chosen.agent_id, chosen.version))
    return True


async def attach(place: MainScreen) -> bool:
    """Attach files, named by their paths, to the next question."""
    files = await place.ask(PathDialog("Add file"))
    if files:
        place.take_files(files)
    return bool(files)


async def choose_model(place: MainScreen, chats: Sequence[ChatService]) -> None:
    """Choose another model for the next answers of the open chats."""
    state = chats[0].slice.value
    models = [one for one in place.store.session.slice.value.models if one != state.model]
    if not models:
        place.notice("The service lists no other model: p Parameters takes any name.")
        return
    now = state.parameters.model
    options = [Option("", state.model or "The agent's model", "the agent's own")]
    options += (Option(one, one, "now" if one == now else "") for one in models)
    model = await place.ask(Choose("Model of the next answers", options))
    if model is not None:
        for chat in chats:
            place.do(chat.set_parameters(replace(chat.slice.value.parameters, model=model or None)))


async def set_parameters(place: MainScreen, chats: Sequence[ChatService]) -> None:
    """Set the parameters for the next answers of the open chats."""
    models = place.store.session.slice.value.models
    tools = [one.consent.name for one in await place.store.tools.list_named()]
    parameters = await place.ask(ParametersForm(chats[0].slice.value.parameters, models, tools))
    if parameters is not None:
        for chat in chats:
            place.do(chat.set_parameters(parameters))


def permission(consent: Consent) -> Permit:
    """Return the dialog that asks whether agents may use a tool of the settings."""
    runs, *about = consent_lines(consent)
    lines = [labels.line(runs, "bold"), *(labels.muted(one) for one in about)]
    return Permit(consent_title(consent), lines, [*consent_choices(consent).items()])


async def delete(place: MainScreen, session: SessionSummary) -> None:
    """Delete a saved chat."""
    way_back = labels.muted(for_days(LOCAL_DAYS))
    about = [labels.line(session.title or "New", "bold"), way_back]
    if await place.ask(Confirm("Delete this chat?", about, "Delete")):
        place.do(place.store.chat.delete_session(session.id))


async def copy_part(place: MainScreen, passage: Passage | None) -> None:
    """Copy the last answer, a code block of it, or the shown passage."""
    if texts := copies(place.store.chat.slice.value, passage):
        await place.copy_one(texts)


async def save(place: MainScreen) -> None:
    """Save the chat to a file."""
    if not place.store.chat.slice.value.turns:
        place.notice("There is nothing to save yet.")
        return
    path = await place.ask(SaveDialog(place.store.chat))
    if path is not None:
        place.notice(f"Saved {path}.")
