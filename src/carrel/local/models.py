"""Local model servers: found at their usual ports, and used by the local server."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from carrel.config.settings import save_settings
from carrel.local.address import loopback
from carrel.text import clean_text

SHOWN = 50
"""Most models listed per server."""


@dataclass(frozen=True)
class ModelServer:
    """A server with OpenAI's interface, and the names of its models."""

    name: str
    url: str
    models: tuple[str, ...]


async def find_model_servers(addresses: Mapping[str, str]) -> tuple[ModelServer, ...]:
    """Return the servers at these addresses that list models, in order."""
    async with loopback() as http:
        found = await asyncio.gather(*(_ask(http, *named) for named in addresses.items()))
    return tuple(server for server in found if server is not None)


async def _ask(http: httpx.AsyncClient, name: str, url: str) -> ModelServer | None:
    try:
        answer = await http.get(f"{url}/v1/models")
        models = [
            clean_text(str(model["id"])) for model in answer.raise_for_status().json()["data"]
        ]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return None  # no server, or another kind of server
    return ModelServer(name, url, tuple(models[:SHOWN])) if models else None


def use_model(data: Path, url: str | None, model: str | None = None) -> bool:
    """Let the local server use this model at this address, or its built-in model with None.

    Changes the data folder's settings, which the server watches. Returns whether they changed.

    Raises:
        ConfigError: the settings cannot be changed.
    """
    values = {"model_url": f"{url}/v1" if url else None, "model_name": model}
    return save_settings(values, data / "settings.toml")
