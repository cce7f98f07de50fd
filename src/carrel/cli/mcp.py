"""`carrel mcp`: tools for the agents of other programs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from carrel.cli.errors import Code, CommandError
from carrel.cli.options import ProfileOption, flag, option
from carrel.cli.session import check_writable, connect
from carrel.config.profiles import Profile, load_profile

if TYPE_CHECKING:
    from carrel.client import Client

_MISSING = "MCP is not installed. Install it with: pip install 'carrel[mcp]'"


def mcp(
    folder: Annotated[
        Path,
        option(
            "DIR",
            "The folder from which the agent may send files. Default: the working folder.",
            file_okay=False,
            exists=True,
        ),
    ] = Path(),
    write: Annotated[
        bool,
        flag(
            "--write",
            "Offer the tools that change something as well: create a library, add a "
            "document, delete a document.",
        ),
    ] = False,
    profile: ProfileOption = None,
) -> None:
    """Offer libraries, OCR and agents to another program's agent, over MCP on stdio.

    The other program starts this command and talks to it over stdin and stdout. Documents of
    libraries are resources. A running server offers the same at /mcp.
    """
    chosen = load_profile(profile)
    if write:
        check_writable(chosen)
    if find_spec("mcp") is None:
        raise CommandError(_MISSING, Code.UNREACHABLE)
    asyncio.run(_serve(chosen, folder, write))


async def _serve(profile: Profile, folder: Path, write: bool) -> None:
    from mcp.server.stdio import stdio_server

    from carrel.mcp.server import mcp_server

    async with connect(profile) as client:
        # A wrong address or key ends the command here, instead of failing each tool.
        await client.libraries.list(page_size=1)

        @asynccontextmanager
        async def share_client(context: Any) -> "AsyncIterator[Client]":
            yield client

        server = mcp_server(share_client, writes=write, folder=folder)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
