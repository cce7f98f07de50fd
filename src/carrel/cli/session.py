"""A command's session with its service."""

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from carrel.cli.errors import CommandError
from carrel.cli.options import ProfileOption
from carrel.cli.output import note
from carrel.client.http.uploads import size_of
from carrel.config.profiles import Profile, load_profile

if TYPE_CHECKING:
    from carrel.client import Client

T = TypeVar("T")


def run(
    profile: str | None, work: "Callable[[Client], Awaitable[T]]", *, changes: bool = False
) -> T:
    """Run a command's work with a client for the profile and return its result.

    `changes` says that the work changes something, which a read-only profile refuses.
    """
    chosen = load_profile(profile)
    if changes:
        check_writable(chosen)

    async def session() -> T:
        async with connect(chosen) as client:
            return await work(client)

    return asyncio.run(session())


def with_client(
    *, changes: bool = False
) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Make a command of a coroutine; it gets a client for the profile of `--profile`.

    `changes` says that it changes something, which a read-only profile refuses.
    """

    def decorate(work: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        @functools.wraps(work)
        def command(*, profile: str | None, **given: object) -> None:
            run(profile, lambda client: work(client, **given), changes=changes)

        # Typer reads the options off the signature: it has the profile in place of the client.
        _, *options = inspect.signature(work).parameters.values()
        option = inspect.Parameter(
            "profile",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=None,
            annotation=ProfileOption,
        )
        options.insert(len(options) - (options[-1].name == "json"), option)
        command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        command.__annotations__ = {option.name: option.annotation for option in options}
        return command

    return decorate


def check_writable(profile: Profile) -> None:
    """Check that a profile may change things.

    Raises:
        CommandError: the profile is read-only.
    """
    if profile.read_only:
        raise CommandError(
            f"The profile “{profile.name}” is read-only, so nothing was changed. "
            "Remove read_only from it in config.toml, or choose another --profile."
        )


def check_readable(paths: Iterable[Path]) -> None:
    """Look at every file before the first is sent.

    Raises:
        UnreadableFile: one cannot be uploaded.
    """
    for path in paths:
        size_of(path)


@contextlib.asynccontextmanager
async def connect(profile: Profile) -> "AsyncIterator[Client]":
    """Yield a client for a profile. Start the local server if needed and keep a lease on it."""
    from carrel.client import Client

    if profile.url is not None:
        async with Client(profile.url, profile.api_key) as client:
            yield client
        return
    from carrel.local import Lease, ensure

    address = await ensure(on_start=lambda: note("Starting the local server …"))
    async with Lease(address), Client(address.url, address.api_key) as client:
        yield client
