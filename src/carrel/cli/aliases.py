"""Aliases of versions: `carrel agents alias`, `unalias` and `aliases`."""

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
from carrel.cli.session import run, with_client

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import AgentAlias

AliasArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Lower-case letters, digits, _ and -, starting with a letter."
    ),
]


def alias(
    agent: AgentArgument,
    name: AliasArgument,
    version: VersionArgument,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Give a version an alias, or move an alias to it."""
    number = version_number(version)

    async def work(client: "Client") -> "AgentAlias":
        return await client.agents.set_alias((await find_agent(client, agent)).id, name, number)

    made = run(profile, work, changes=True)
    output.note(f"{made.alias} is now v{made.version}.")
    if json:
        output.as_json(made)


@with_client(changes=True)
async def unalias(client: "Client", agent: AgentArgument, name: AliasArgument) -> None:
    """Remove an alias. The version stays."""
    await client.agents.delete_alias((await find_agent(client, agent)).id, name)
    output.note(f"Removed the alias {output.one_line(name)}.")


@with_client()
async def aliases(client: "Client", agent: AgentArgument, json: JSONOption = False) -> None:
    """List an agent's aliases."""
    listed = await client.agents.aliases((await find_agent(client, agent)).id)
    if json:
        output.as_json(listed)
        return
    output.table(
        ["NAME", "VERSION", "CHANGED"],
        [(alias.alias, f"v{alias.version}", output.when(alias.updated_at)) for alias in listed],
    )
