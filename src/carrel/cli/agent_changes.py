"""`carrel agents diff`, and an agent in an editor."""

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_agent, find_version
from carrel.cli.options import AgentArgument, JSONOption, argument
from carrel.cli.session import check_writable, run, with_client
from carrel.config.profiles import folders, load_profile
from carrel.system.editor import EditorError, configured_command, edit

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.agents.compare import FieldChange
    from carrel.store.agents.drafts import Draft, SavedDrafts
    from carrel.wire.generation.agents import Agent

OldArgument = Annotated[str, argument("OLD", "A version's number or alias: 2, v2 or prod.")]
NewArgument = Annotated[str | None, argument("NEW", "Another version. Default: the active one.")]


@with_client()
async def diff(
    client: "Client",
    agent: AgentArgument,
    old: OldArgument,
    new: NewArgument = None,
    json: JSONOption = False,
) -> None:
    """Show the differences between two versions."""
    from carrel.store.agents.compare import compare_agents
    from carrel.store.agents.formatting import change_lines, changed_field_rows, version_name

    found = await find_agent(client, agent)
    before = await find_version(client, found, old)
    after = found if new is None else await find_version(client, found, new)
    libraries = await library_names(client)
    changes = [change for change in compare_agents(before, after) if change.change != "same"]
    if json:
        output.as_json([change_as_json(change) for change in changes])
        return
    names = f"{version_name(before.version)} and {version_name(after.version)}"
    output.note(f"{names} differ in:" if changes else f"{names} do not differ.")
    for line in change_lines(changed_field_rows(changes, libraries)):
        output.data(line)


def edit_in_editor(
    agent: str, message: str | None, profile: str | None
) -> "tuple[Agent, Agent | None]":
    """Open an agent as YAML in an editor, show the changes, and save them.

    Gives the agent as it was, and the new version or None. What is not saved is kept as a draft,
    and is there again the next time.
    """
    from carrel.store.agents.drafts import Draft, SavedDrafts
    from carrel.store.core.problem import ProblemError

    try:
        if not sys.stdin.isatty() and not configured_command():
            raise CommandError("Nothing to change. See: carrel agents edit --help", Code.USAGE)
    except EditorError as error:
        raise CommandError(str(error), Code.USAGE) from error
    chosen = load_profile(profile)
    check_writable(chosen)
    saved = SavedDrafts(folders().state, chosen.storage_name)

    async def look(client: "Client") -> "tuple[Agent, Mapping[str, str]]":
        return await find_agent(client, agent), await library_names(client)

    active, libraries = run(profile, look)
    kept = (draft for draft in saved.all() if draft.id == active.id)
    draft = _edit_text(saved, next(kept, Draft.of(active)), libraries)
    draft = replace(draft, message=message or draft.message, updated=time.time())
    try:
        change = draft.update(active)
    except ProblemError as error:
        raise CommandError(str(error.problem), Code.USAGE) from error
    if change is None:
        saved.delete(draft.id)
        return active, None
    saved.save(draft)
    _ask(active, draft, libraries)
    made = run(profile, lambda client: client.agents.update(active.id, change), changes=True)
    saved.delete(draft.id)
    return active, made


def _edit_text(saved: "SavedDrafts", draft: "Draft", libraries: Mapping[str, str]) -> "Draft":
    """Return the edited draft; after a mistake, offer to open the editor again."""
    from carrel.store.agents.agent_yaml import from_yaml, to_yaml
    from carrel.yamlfile import YAMLError

    while True:
        path = saved.editor_file(draft.id, to_yaml(draft, libraries), draft.updated)
        try:
            return from_yaml(edit(path), draft)
        except EditorError as error:
            raise CommandError(str(error)) from error
        except YAMLError as error:
            if not sys.stdin.isatty():
                raise CommandError(f"{error} Your text is in {path}", Code.USAGE) from error
            output.note(str(error))
            if not typer.confirm("Edit again?", default=True, err=True):
                raise CommandError(f"Nothing was sent. Your text is in {path}") from error


def _ask(active: "Agent", draft: "Draft", libraries: Mapping[str, str]) -> None:
    """Show the changes of a draft; on a terminal, ask for confirmation."""
    from carrel.store.agents.compare import compare_agents
    from carrel.store.agents.formatting import change_lines, changed_field_rows, next_version

    for line in change_lines(
        changed_field_rows(compare_agents(active, draft.preview(active)), libraries)
    ):
        output.note(line)
    question = f"Save this as {next_version(active)}?"
    if sys.stdin.isatty() and not typer.confirm(question, default=True, err=True):
        raise CommandError("Nothing was sent. Run the same command again to continue the draft.")


def change_as_json(change: "FieldChange") -> dict[str, object]:
    known = {"old": change.old, "new": change.new}
    return {
        "field": change.field,
        "change": change.change,
        **{name: value for name, value in known.items() if value is not None},
        **({"parts": [change_as_json(part) for part in change.parts]} if change.parts else {}),
    }


async def library_names(client: "Client") -> dict[str, str]:
    return {library.id: library.name async for library in client.libraries.every()}
