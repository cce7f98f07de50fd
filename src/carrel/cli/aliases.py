"""Aliases of versions: `carrel agents alias`, `unalias` and `aliases`."""

from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.find import find_agent
from carrel.cli.options import (
    AgentArgument,
    JSONOption,
    VersionArgument,
)
from carrel.cli.session import with_client

if TYPE_CHECKING:
    from carrel.client import Client

AliasArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Lower-case letters, digits, _ and -, starting with a letter."
    ),
]


@with_client(changes=True)
async def alias(
    client: "Client",
    agent: AgentArgument,
    name: AliasArgument,
    version: VersionArgument,
    json: JSONOption = False,
) -> None:
    """Give a version an alias, or move an alias to it."""
    made = await client.agents.set_alias((await find_agent(client, agent)).id, name, version)
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
        CHANGED=lambda alias: output.when(alias.updated_at),
    )
