"""Names for versions of an agent: `carrel agents alias`, `unalias` and `aliases`."""

from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.find import find_agent
from carrel.cli.options import (
    AgentArgument,
    JSONOption,
    ProfileOption,
    VersionArgument,
    version_number,
)
from carrel.cli.session import run

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.agents import AgentAlias

AliasArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Small letters, digits, _ and -, with a letter first."),
]


def alias(
    agent: AgentArgument,
    name: AliasArgument,
    version: VersionArgument,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Give a version a name, or move a name to it."""
    number = version_number(version)

    async def work(client: "Client") -> "AgentAlias":
        return await client.agents.set_alias((await find_agent(client, agent)).id, name, number)

    made = run(profile, work, changes=True)
    output.note(f"{made.alias} is v{made.version} now.")
    if json:
        output.as_json(made)


def unalias(agent: AgentArgument, name: AliasArgument, profile: ProfileOption = None) -> None:
    """Take a name away; its version stays."""

    async def work(client: "Client") -> None:
        await client.agents.delete_alias((await find_agent(client, agent)).id, name)

    run(profile, work, changes=True)
    output.note(f"{output.one_line(name)} names no version now.")


def aliases(agent: AgentArgument, profile: ProfileOption = None, json: JSONOption = False) -> None:
    """List the names of an agent's versions."""

    async def work(client: "Client") -> "list[AgentAlias]":
        return await client.agents.aliases((await find_agent(client, agent)).id)

    listed = run(profile, work)
    if json:
        output.as_json(listed)
        return
    output.table(
        ["NAME", "VERSION", "CHANGED"],
        [(each.alias, f"v{each.version}", output.when(each.updated_at)) for each in listed],
    )
