"""Checks that a service answers and accepts a key, before its profile is saved."""

import asyncio

from carrel.client.http.errors import ClientError, NotFound, Unauthorized
from carrel.config.profiles import Profile, check_url, on_this_machine
from carrel.store.core.problem import Problem

PATIENCE = 10.0
"""Timeout in seconds."""


def is_unencrypted(profile: Profile) -> bool:
    """Return whether the profile's key would cross the network unencrypted."""
    plain = (profile.url or "").lower().startswith("http://")
    return plain and profile.api_key is not None and not on_this_machine(profile.url)


async def probe(profile: Profile) -> Problem | None:
    """Return the reason why a profile is unusable (no answer, or a refused key), or None.

    Raises:
        ConfigError: its address is invalid.
    """
    from carrel.client import Client

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
        return Problem("This is not a key", "It has characters that a request cannot carry.")
    except ClientError as error:
        return Problem.of(error)
    return None
