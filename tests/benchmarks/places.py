"""Every place over much: 10,000 files, 1,000 documents, 500 chats, 200 versions of an agent.

The app runs in a real terminal over a real server. A place is opened from Activity, which is
empty, and left again; a step is one of a key that is held. Both are measured in the processor's
time of the app and what it starts, which others on the machine do not prolong; beside an opening
stands how long it took by the clock.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from unittest.mock import patch

from benchmarks.report import Figure
from benchmarks.terminal import drain, home
from carrel.client import Client
from carrel.config.profiles import ENVIRONMENT, folders
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions
from carrel.wire.generation.agents import AgentCreate, AgentUpdate
from support.documents import digital_pdf
from support.libraries import LibraryUnderTest, connect
from support.process import RunningServer, family_seconds, serve
from support.rows import multiply
from support.terminal import Terminal, terminal

FILES, DOCUMENTS, CHATS, VERSIONS, PAGES = 10_000, 1_000, 500, 200, 200
_OPENINGS = 8
_STEPS = 100
_REPEAT = 1 / 30
"""Seconds between two keys of one that is held."""
_STEP_MS, _OPEN_MS = 16, 150


@dataclass(frozen=True)
class _Place:
    """A place by its key: what it shows once it is open, the keys to its list, that of a step."""

    name: str
    key: str
    words: str
    to_list: Sequence[str] = ()
    step: str = "j"


_PLACES = (
    _Place(f"Files ({FILES:,})", "1", f"of {FILES:,}"),
    _Place(f"Libraries ({DOCUMENTS:,} documents)", "2", f"of {DOCUMENTS:,}", ("tab",)),
    _Place(f"Document ({PAGES} pages)", "3", f"of {PAGES}", (), "l"),
    _Place(f"Agents ({VERSIONS} versions)", "4", f"v{VERSIONS - 1}", ("tab",)),
    _Place(f"Chat ({CHATS} chats)", "5", "question"),
)


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, home(Path(name))):
        folder = Path(name)
        with serve(folder / "data") as server:
            asyncio.run(_fill(server, folder))
            address, key = server.url, server.api_key
            with terminal(("carrel",), CARREL_URL=address, CARREL_API_KEY=key) as screen:
                screen.wait_for(f"of {FILES:,}", 60)
                screen.press("enter")
                screen.wait_for(f"page 1 of {PAGES}", 120)
                screen.press("6")
                drain(screen.wait_for, 5)
                for place in _PLACES:
                    yield from _measure(screen, place)
                screen.press("ctrl+q")
                screen.wait_for_end()


def _measure(screen: Terminal, place: _Place) -> Iterable[Figure]:
    pid, times = screen.process.pid, []
    screen.press(place.key)
    screen.wait_for(place.words, 60)
    drain(screen.wait_for, 2)
    screen.press("6")
    screen.wait_for(r"\[6 Activity")
    before = family_seconds(pid)
    for _ in range(_OPENINGS):
        began = time.perf_counter()
        screen.press(place.key)
        screen.wait_for(place.words)
        times.append(time.perf_counter() - began)
        screen.press("6")
        screen.wait_for(r"\[6 Activity")
    spent = 1000 * (family_seconds(pid) - before) / _OPENINGS
    clock = f"by the clock {1000 * median(times):.0f} ms, the middle of {_OPENINGS}"
    yield Figure(f"{place.name}: opened and left, ms of processor", spent, _OPEN_MS, "lower", clock)
    screen.press(place.key)
    screen.wait_for(place.words)
    screen.press(*place.to_list)
    drain(screen.wait_for, 2)
    before = family_seconds(pid)
    screen.hold(place.step, _STEPS, _REPEAT)
    drain(screen.wait_for, 0.5)
    spent = 1000 * (family_seconds(pid) - before) / _STEPS
    yield Figure(f"{place.name}: a step, ms of processor", spent, _STEP_MS, "lower")
    screen.press("6")
    screen.wait_for(r"\[6 Activity")


async def _fill(server: RunningServer, folder: Path) -> None:
    document = digital_pdf(folder / "document.pdf", PAGES, "A page.")
    async with Client(server.url, server.api_key) as client:
        await client.files.upload(document)
        library = await client.libraries.create(name="contracts")
        agent = await client.agents.create(AgentCreate(name="support", model="builtin"))
        for number in range(1, VERSIONS):
            change = AgentUpdate(instructions=f"Answer in {number} words.")
            await client.agents.update(agent.id, change)
    with connect(server) as http:
        text = b"The notice period is three months."
        LibraryUnderTest(http, library.id).processed("lease.txt", text)
    database = server.data / "carrel.db"
    multiply(database, "files", FILES)
    multiply(database, "documents", DOCUMENTS, blob="blob || n", name="name || n")
    sessions = SavedSessions(folders().state, ENVIRONMENT)
    for number in range(CHATS):
        said = (Turn("user", f"question {number}"), Turn("assistant", f"Answer {number}."))
        chat = Conversation(said, (-1, 0), 1)
        sessions.save(ChatSession(f"chat-{number}", agent.id, "support", 1.0 * number, chat))
