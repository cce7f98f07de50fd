"""`carrel agents …`"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from carrel.cli import agent_changes, agent_files, evals, output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import check_version, find_agent, find_library, find_version
from carrel.cli.options import (
    AgentArgument,
    JSONOption,
    ProfileOption,
    VersionArgument,
    argument,
    commands,
    option,
)
from carrel.cli.session import run, with_client
from carrel.client.http.errors import NotFound
from carrel.config.profiles import load_profile

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import Agent

app = commands("Create, change and compare agents, and switch their versions.")

DescriptionOption = Annotated[str | None, option("TEXT", "A description for people.")]
InstructionsOption = Annotated[
    str | None, option("TEXT", "Instructions given to the model before every chat.")
]
LibraryOption = Annotated[
    list[str] | None,
    option("LIBRARY", "A library to search, by id or name; repeatable.", "--library"),
]
TemperatureOption = Annotated[
    float | None, option("T", "Sampling temperature, 0 to 1.", min=0, max=1)
]

MessageOption = Annotated[str | None, option("TEXT", "A message that describes this version.")]

AliasArgument = Annotated[
    str, argument("NAME", "Lower-case letters, digits, _ and -, starting with a letter.")
]


@with_client()
async def list_agents(
    client: "Client",
    search: Annotated[
        str | None, option("TEXT", "List only agents whose name or id contains TEXT.")
    ] = None,
    json: JSONOption = False,
) -> None:
    """List agents."""
    agents = [agent async for agent in client.agents.every(search)]
    output.show_list(
        agents,
        json,
        ID=lambda agent: agent.id,
        NAME=lambda agent: agent.name,
        VERSION=lambda agent: f"v{agent.version}",
        MODEL=lambda agent: agent.model,
        CHANGED=lambda agent: output.local_time(agent.updated_at),
    )


def create(
    name: Annotated[str, argument("NAME")],
    model: Annotated[
        str | None, option("MODEL", "The model to use; required on a hosted service.")
    ] = None,
    description: DescriptionOption = None,
    instructions: InstructionsOption = None,
    library: LibraryOption = None,
    temperature: TemperatureOption = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Create an agent with these options. Prints its id."""
    from carrel.wire.generation.agents import AgentCreate

    async def work(client: "Client") -> "Agent":
        fields: dict[str, Any] = {
            "name": name,
            "model": await _model(client, model, profile),
            "description": description,
            "instructions": instructions,
        }
        if library:
            fields["tools"] = [await _library_tool(client, library)]
        if temperature is not None:
            fields["completion_args"] = {"temperature": temperature}
        return await client.agents.create(AgentCreate.model_validate(fields))

    agent = run(profile, work, changes=True)
    output.report_new(
        agent, f"Made {output.one_line(agent.name)} v{agent.version} with {agent.model}.", json
    )


@with_client()
async def show(
    client: "Client",
    agent: AgentArgument,
    version: Annotated[
        str | None, option("VERSION", "A version number or alias. Default: the active version.")
    ] = None,
    json: JSONOption = False,
) -> None:
    """Show an agent at its active version, or at another."""
    found = await find_agent(client, agent)
    if version is not None:
        found = await find_version(client, found, version)
    if json:
        output.as_json(found)
    else:
        _print(found)


def edit(
    agent: AgentArgument,
    name: Annotated[str | None, option("NAME", "A new name.")] = None,
    model: Annotated[str | None, option("MODEL", "Another model.")] = None,
    description: DescriptionOption = None,
    instructions: InstructionsOption = None,
    library: LibraryOption = None,
    temperature: TemperatureOption = None,
    message: MessageOption = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Change an agent. This makes a new version and activates it.

    Options that are not given keep their values. An empty TEXT clears the description or the
    instructions; an empty LIBRARY removes all libraries. Without options, the agent opens as
    YAML in $EDITOR.
    """
    from carrel.store.agents.review import NOTHING_CHANGED
    from carrel.wire.generation.agents import AgentUpdate

    given = (name, model, description, instructions, library, temperature)
    if all(value is None for value in given):
        active, made = agent_changes.edit_in_editor(agent, message, profile)
        if made is None:
            output.note(NOTHING_CHANGED)
        _report_change(made or active, json)
        return

    async def work(client: "Client") -> "Agent":
        found = await find_agent(client, agent)
        fields: dict[str, Any] = {}
        if name is not None:
            fields["name"] = name
        if model is not None:
            fields["model"] = await _model(client, model, profile)
        if description is not None:
            fields["description"] = description or None
        if instructions is not None:
            fields["instructions"] = instructions or None
        if library is not None:
            others = [tool for tool in found.tools if tool.get("type") != "document_library"]
            wanted = [text for text in library if text]
            fields["tools"] = others + ([await _library_tool(client, wanted)] if wanted else [])
        if temperature is not None:
            kept = {key: value for key, value in found.completion_args.items() if value is not None}
            fields["completion_args"] = {**kept, "temperature": temperature}
        if message:
            fields["version_message"] = message
        return await client.agents.update(found.id, AgentUpdate.model_validate(fields))

    _report_change(run(profile, work, changes=True), json)


@with_client()
async def versions(client: "Client", agent: AgentArgument, json: JSONOption = False) -> None:
    """List an agent's versions and mark the active one."""
    from carrel.store.agents.formatting import version_notes

    active = await find_agent(client, agent)
    listed = [version async for version in client.agents.every_version(active.id)]
    found = sorted(listed, key=lambda version: version.version, reverse=True)
    notes = dict(zip((version.version for version in found), version_notes(found), strict=True))
    output.show_list(
        found,
        json,
        VERSION=lambda version: f"v{version.version}",
        ACTIVE=lambda version: "active" if version.version == active.version else "",
        NAME=lambda version: version.name,
        MODEL=lambda version: version.model,
        CHANGED=lambda version: output.local_time(version.updated_at),
        MESSAGE=lambda version: notes[version.version],
    )


@with_client(changes=True)
async def switch(
    client: "Client", agent: AgentArgument, version: VersionArgument, json: JSONOption = False
) -> None:
    """Activate an existing version."""
    found = await find_agent(client, agent)
    _report_change(await client.agents.switch(found.id, check_version(found, version)), json)


@with_client(changes=True)
async def delete(client: "Client", agent: AgentArgument, json: JSONOption = False) -> None:
    """Delete an agent and all its versions."""
    found = await find_agent(client, agent)
    await client.agents.delete(found.id)
    output.report_deleted(found.id, f"Deleted {output.one_line(found.name)}.", json)


@with_client(changes=True)
async def alias(
    client: "Client",
    agent: AgentArgument,
    name: AliasArgument,
    version: VersionArgument,
    json: JSONOption = False,
) -> None:
    """Give a version an alias, or move an alias to it."""
    found = await find_agent(client, agent)
    made = await client.agents.set_alias(found.id, name, check_version(found, version))
    output.report_change(made, f"{made.alias} is now v{made.version}.", json)


@with_client(changes=True)
async def unalias(client: "Client", agent: AgentArgument, name: AliasArgument) -> None:
    """Remove an alias. The version stays."""
    await client.agents.delete_alias((await find_agent(client, agent)).id, name)
    output.note(f"Removed the alias {output.one_line(name)}.")


@with_client()
async def aliases(client: "Client", agent: AgentArgument, json: JSONOption = False) -> None:
    """List an agent's aliases."""
    listed = await client.agents.aliases((await find_agent(client, agent)).id)
    output.show_list(
        listed,
        json,
        NAME=lambda alias: alias.alias,
        VERSION=lambda alias: f"v{alias.version}",
        CHANGED=lambda alias: output.local_time(alias.updated_at),
    )


_COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("list", list_agents),
    ("show", show),
    ("new", agent_files.new),
    ("create", create),
    ("edit", edit),
    ("delete", delete),
    ("versions", versions),
    ("diff", agent_changes.diff),
    ("switch", switch),
    ("aliases", aliases),
    ("alias", alias),
    ("unalias", unalias),
    ("export", agent_files.export),
    ("import", agent_files.import_),
    ("plan", agent_files.plan),
    ("apply", agent_files.apply),
    ("try", evals.try_),
    ("runs", evals.runs),
    ("votes", evals.votes),
)
for _name, _command in _COMMANDS:
    app.command(_name)(_command)


async def _model(client: "Client", wanted: str | None, profile: str | None) -> str:
    """Return the model to use, and warn if the service does not list it."""
    from carrel.store.agents.formatting import models_words, unlisted_words

    try:
        cards = (await client.models.list()).chat_models
    except NotFound:
        cards = []  # listing models is optional for a service
    models = [card.id for card in cards]
    if wanted is not None:
        if cards and not any(card.answers_to(wanted) for card in cards):
            output.note(f"{unlisted_words(wanted)} {models_words(models)}")
        return wanted
    if not models or not load_profile(profile).local:
        known = f" It has: {', '.join(models[:12])}" if models else ""
        raise CommandError(f"Name the agent's model with --model.{known}", Code.USAGE)
    return models[0]


async def _library_tool(client: "Client", wanted: list[str]) -> dict[str, Any]:
    ids = [(await find_library(client, library)).id for library in wanted]
    return {"type": "document_library", "library_ids": ids}


def _report_change(agent: "Agent", json: bool) -> None:
    output.report_new(agent, f"{output.one_line(agent.name)} is now v{agent.version}.", json)


def _print(agent: "Agent") -> None:
    libraries = [
        library
        for tool in agent.tools
        if tool.get("type") == "document_library"
        for library in tool.get("library_ids", [])
    ]
    others = [str(tool.get("type")) for tool in agent.tools if "library_ids" not in tool]
    output.fields(
        [
            ("id", agent.id),
            ("name", output.one_line(agent.name)),
            ("version", f"v{agent.version} of {', '.join(f'v{n}' for n in agent.versions)}"),
            ("model", agent.model),
            ("description", agent.description),
            ("instructions", agent.instructions),
            ("libraries", ", ".join(libraries)),
            ("other tools", ", ".join(others)),
            ("arguments", {k: v for k, v in agent.completion_args.items() if v is not None}),
            ("created", output.local_time(agent.created_at)),
            ("changed", output.local_time(agent.updated_at)),
        ]
    )
