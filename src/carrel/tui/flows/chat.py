"""Chats: beginning, choosing who answers, attaching, parameters, deleting.

Those that open a field to type into give True once it is open.
"""

from collections.abc import Sequence
from dataclasses import replace

from textual.content import Content

from carrel.store.chat.service import ChatService
from carrel.store.chat.sessions import SessionSummary
from carrel.store.tools.state import Consent
from carrel.store.tools.words import consent_lines, consent_title
from carrel.store.trash.words import LOCAL_DAYS, for_days
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.dialogs.chat import ParametersForm
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.dialogs.path import PathDialog
from carrel.tui.flows.agent_choice import choose_agent
from carrel.tui.looks import labels
from carrel.tui.place import Place


async def begin(place: Place) -> bool:
    """Begins a chat with an agent that is chosen."""
    chosen = await choose_agent(place, "Chat with")
    if chosen is None:
        return False
    return await place.opened(place.store.chat.new(chosen.agent_id, chosen.version))


async def change_agent(place: Place) -> bool:
    """Has another agent, or another version, answer from here on in the open chat."""
    chosen = await choose_agent(place, "Who answers from here on", versions=True)
    if chosen is None:
        return False
    return await place.opened(place.store.chat.choose(chosen.agent_id, chosen.version))


async def attach(place: Place) -> bool:
    """Attaches files, named by their paths, to the next question."""
    files = await place.ask(PathDialog("Add file"))
    if files:
        place.dropped(files)
    return bool(files)


async def choose_model(place: Place, chats: Sequence[ChatService]) -> None:
    """Has another model write the next answers of the open chats."""
    state = chats[0].slice.value
    models = [one for one in place.store.session.slice.value.models if one != state.model]
    if not models:
        place.notice("The service lists no other model: p Parameters takes any name.")
        return
    now = state.parameters.model
    things = [Thing("", state.model or "The agent's model", "the agent's own")]
    things += (Thing(one, one, "now" if one == now else "") for one in models)
    model = await place.ask(Choose("Model of the next answers", things))
    if model is not None:
        for chat in chats:
            place.do(chat.set_parameters(replace(chat.slice.value.parameters, model=model or None)))


async def set_parameters(place: Place, chats: Sequence[ChatService]) -> None:
    """Sets how the next answers of the open chats are drawn."""
    models = place.store.session.slice.value.models
    tools = [one.consent.name for one in await place.finish(place.store.tools.named()) or ()]
    parameters = await place.ask(ParametersForm(chats[0].slice.value.parameters, models, tools))
    if parameters is not None:
        for chat in chats:
            place.do(chat.set_parameters(parameters))


def permission(consent: Consent) -> Confirm:
    """Asks whether agents may use a tool of the settings."""
    runs, *about = consent_lines(consent)
    lines = [labels.line(runs, "bold"), *(Content.styled(one, "$muted") for one in about)]
    return Confirm(consent_title(consent), lines, "Allow", wary=True)


async def delete(place: Place, session: SessionSummary) -> None:
    """Deletes a saved chat."""
    way_back = Content.styled(for_days(LOCAL_DAYS), "$muted")
    about = [labels.line(session.title or "New", "bold"), way_back]
    if await place.ask(Confirm("Delete this chat?", about, "Delete")):
        place.do(place.store.chat.delete_session(session.id))
