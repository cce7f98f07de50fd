"""The demo environment: its own folder and server, wiped before and after each demo.

The presenter's own documents, chats, histories and profiles never appear in a demo, and nothing of
the demo remains, however it ends.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config.profiles import LOCAL, Profile, folders, on_this_machine, read_toml, write_text
from carrel.store.chat.sessions.saved import SavedSessions
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.demo import FOLDER
from carrel.store.demo.making import clear, make
from carrel.store.demo.script import Demo
from carrel.store.session.service import model_words
from carrel.system.locking import Locked, lock_file

if TYPE_CHECKING:
    from carrel.client import Client

TAKEN = Problem(
    "A demo is under way", "Another terminal or notebook plays one.", "End that one first."
)
MODELS = ("model_url", "model_key", "model_name", "model_path")
"""Server settings that choose the answering model."""


def own_profile() -> Profile:
    """Return the profile of the demo environment."""
    return Profile(LOCAL, home=folders().state / FOLDER)


@asynccontextmanager
async def own_place() -> AsyncIterator[None]:
    """Lock the demo environment, and wipe it at the beginning and the end.

    It uses the model of this machine's server.

    Raises:
        ProblemError: another demo is under way.
        ConfigError: the settings of this machine's server cannot be read.
    """
    profile = own_profile()
    home = folders().state / FOLDER
    home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lock = lock_file(home.with_suffix(".lock"))
    except Locked:
        raise ProblemError(TAKEN) from None
    with lock:
        await _wipe(profile)
        try:
            _take_model(profile)
            yield
        finally:
            await _wipe(profile)


@asynccontextmanager
async def set_up(
    demo: Demo, folder: Path, profile: Profile, say: Callable[[str], None]
) -> AsyncIterator[Demo]:
    """Create a demo's resources; yield the demo with the model's description in its captions.

    At the end everything at the profile's service is deleted. Paths are relative to `folder`; `say`
    gets a message before each part.

    Raises:
        ProblemError: there is no model, or a document cannot be processed.
        ClientError: the service did not create or delete something.
    """
    assert profile.home is not None, "only the own place of a demo is cleared"
    # This connection keeps the server running between two runs of a face.
    async with _connect(profile, say) as client:
        try:
            async for words in make(client, demo, folder):
                say(words)
            yield demo.with_model(await _describe_model(client, profile))
        finally:
            await clear(client)
            sessions = SavedSessions(profile.folders.state, profile.storage_name)
            for session in sessions.all():
                sessions.forget(session.id)


@asynccontextmanager
async def _connect(profile: Profile, say: Callable[[str], None]) -> AsyncIterator[Client]:
    from carrel.client import Client
    from carrel.local import Lease, ensure

    if profile.url is not None:
        async with Client(profile.url, profile.api_key) as client:
            yield client
        return
    address = await ensure(
        profile.folders.server, on_start=lambda: say("Starting a server for the demo …")
    )
    async with Lease(address), Client(address.url, address.api_key) as client:
        yield client


async def _describe_model(client: Client, profile: Profile) -> str:
    """Return the name of the answering model, and its host."""
    cards = (await client.models.list()).chat_models
    name = model_words(cards[0]) if cards else "none"
    urls = _read_models(profile.folders.server).get("model_url", ())
    url = urls if isinstance(urls, str) else next(iter(urls), None)
    if on_this_machine(url):
        return f"{name}, on this machine: nothing leaves it"
    return f"{name}, at {url}: questions and passages go there"


def _take_model(profile: Profile) -> None:
    import tomli_w

    profile.folders.server.mkdir(mode=0o700, parents=True)
    path = profile.folders.server / "settings.toml"
    write_text(path, tomli_w.dumps(_read_models(folders().server)))


def _read_models(data: Path) -> dict[str, Any]:
    read = read_toml(data / "settings.toml")
    return {key: read[key] for key in MODELS if key in read}


async def _wipe(profile: Profile) -> None:
    from carrel.local import stop

    if profile.home is not None and profile.home.exists():
        await stop(profile.folders.server)
        await asyncio.to_thread(shutil.rmtree, profile.home)
