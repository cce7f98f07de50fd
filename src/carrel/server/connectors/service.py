"""The connectors of a server: their tools listed and called."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.server.errors import ApiError
from carrel.server.models.schemas.schema_size import TooLarge, check_size
from carrel.server.settings import Connector
from carrel.text import clean_json, clean_text

if TYPE_CHECKING:
    from mcp import ClientSession

log = logging.getLogger(__name__)

MOST_TOOLS = 64
"""Tools of one connector."""
MOST_LETTERS = 20_000
"""Letters of a result that a model is shown."""
_DESCRIPTION = 1_000
_LISTED_SECONDS = 60.0
"""A list of tools is asked for again after so long."""


@dataclass(frozen=True)
class ConnectorTool:
    """A tool of an MCP server."""

    name: str
    description: str
    parameters: dict[str, Any]


class Connectors:
    """The MCP servers that the settings name. Callers choose among them, and name no others."""

    def __init__(self, named: Mapping[str, Connector], web_search: str | None) -> None:
        self._named = named
        self._listed: dict[str, tuple[float, list[ConnectorTool]]] = {}
        self.web_search = web_search
        """The connector that searches the web."""

    def __contains__(self, name: str) -> bool:
        return name in self._named

    async def tools(self, name: str, token: str | None = None) -> list[ConnectorTool]:
        """Return the tools of a connector that its settings allow.

        `token` authenticates instead of the operator's key; what is listed with it is not kept.

        Raises:
            ApiError: 503, it does not answer.
        """
        asked, tools = self._listed.get(name, (0.0, []))
        if token is None and asked and time.monotonic() - asked < _LISTED_SECONDS:
            return tools
        async with self._session(name, token) as session:
            listed = (await session.list_tools()).tools
        allowed = self._named[name].tools
        tools = [
            ConnectorTool(tool.name, clean_text(tool.description or "")[:_DESCRIPTION], parameters)
            for tool in listed[:MOST_TOOLS]
            if (allowed is None or tool.name in allowed)
            and (parameters := _parameters(name, tool.input_schema)) is not None
        ]
        if token is None:
            self._listed[name] = time.monotonic(), tools
        return tools

    async def call(
        self, name: str, tool: str, arguments: dict[str, Any], token: str | None = None
    ) -> str:
        """Return what a tool answers, as text, cleaned and cut.

        Raises:
            ApiError: 503, it does not answer.
        """
        async with self._session(name, token) as session:
            result = await session.call_tool(tool, arguments)
        said = (getattr(block, "text", None) or f"[{block.type}]" for block in result.content)
        text = clean_text("\n".join(said))
        if len(text) > MOST_LETTERS:
            text = f"{text[:MOST_LETTERS]}\n(cut here)"
        return f"Error: {text}" if result.is_error else text or "(nothing)"

    @asynccontextmanager
    async def _session(self, name: str, token: str | None) -> AsyncIterator["ClientSession"]:
        # Imported only where there are connectors.
        from carrel.server.connectors.session import open_session

        connector = self._named[name]
        try:
            async with asyncio.timeout(connector.seconds), open_session(connector, token) as opened:
                yield opened
        except Exception as error:
            # Its words may have the key or the address in them.
            log.warning("the connector %s failed: %s", name, ", ".join(sorted(_kinds(error))))
            raise ApiError(503, f"The connector {name} does not answer. Try again later.") from None


def _parameters(connector: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of a tool's arguments, or None if it is too large for the model."""
    try:
        check_size(schema)
    except TooLarge:
        log.warning("a tool of the connector %s is left out: its schema is too large", connector)
        return None
    cleaned: dict[str, Any] = clean_json(schema)
    return cleaned


def _kinds(error: BaseException) -> set[str]:
    if isinstance(error, BaseExceptionGroup):
        return {kind for inner in error.exceptions for kind in _kinds(inner)}
    return {type(error).__name__}
