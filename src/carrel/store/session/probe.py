"""Whether a service answers and takes a key, before a profile of it is kept."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from carrel.config import check_url, on_this_machine
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.config import Profile

PATIENCE = 10.0
"""Seconds in which a service must have answered."""


def unencrypted(profile: Profile) -> bool:
    """Whether its key would go over the network for anyone on the way to read."""
    plain = (profile.url or "").lower().startswith("http://")
    return plain and profile.api_key is not None and not on_this_machine(profile.url)


async def probe(profile: Profile) -> Problem | None:
    """Why a profile cannot be used: nobody answers, or the key is refused. None: it can be.

    Raises:
        ConfigError: its address is none.
    """
    from carrel.client import Client
    from carrel.client.errors import ClientError, NotFound, Unauthorized

    url = check_url(profile.url or "")
    try:
        async with asyncio.timeout(PATIENCE), Client(url, profile.api_key) as client:
            await client.models.list()
    except NotFound:
        return None  # a service need not list its models
    except TimeoutError:
        return Problem("No answer", f"{url} did not answer within {PATIENCE:.0f} s.")
    except Unauthorized:
        return Problem("The key was refused", f"{url} did not accept it.")
    except ValueError:
        return Problem("The key cannot be one", "It has characters that no request can carry.")
    except ClientError as error:
        return Problem.of(error)
    return None
