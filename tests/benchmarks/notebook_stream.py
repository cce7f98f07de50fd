"""Messages to the browser while a panel shows an answer of 1,000 tokens a second.

A service in a process of its own says the answer on time. Everything that the panel's comm sends
is counted: states and deltas. A browser that came later must have the same text as one that was
there from the beginning, so what the messages make up is compared with what was said.
"""

import os
import tempfile
import time
from collections.abc import Iterable
from unittest.mock import patch

from benchmarks.report import Figure
from carrel.config.profiles import Profile
from carrel.notebook.html.markdown import to_blocks
from carrel.notebook.panels.chat import ChatPanel
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.panels import Wire
from support.peers import HOST, peer, serve_app
from support.speaker import TOKEN, speaker, speech

CHARACTERS = 40_000
RATE = 1_000
"""Tokens a second."""


def measure() -> Iterable[Figure]:
    with (
        tempfile.TemporaryDirectory() as home,
        patch.dict(os.environ, {"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home}),
        peer(serve_app, speaker, CHARACTERS, RATE) as port,
    ):
        store = Store(Profile("test", f"http://{HOST}:{port}", "key"), OwnerLoop.in_thread())
        store.loop.run(store.start()).result(60)
        try:
            yield from _figures(store)
        finally:
            store.loop.run(store.close()).result(60)
            store.loop.close()


def _figures(store: Store) -> Iterable[Figure]:
    store.chat.new("agent").result(60)
    wire = Wire(ChatPanel(store))
    before = len(wire.messages)
    began = time.perf_counter()
    store.chat.send("Everything, please.").result(120)
    state = wire.wait_state(lambda state: len(state["turns"]) > 1 and not state["busy"])
    seconds = time.perf_counter() - began
    sent = wire.messages[before:]
    said = to_blocks(speech(CHARACTERS))
    shown = _blocks(wire)
    # The last of the deltas may still be growing when the state brings the whole.
    if state["turns"][-1]["blocks"] != said or shown[:-1] != said[: len(shown) - 1]:
        raise RuntimeError("what the browser was sent is not what was said")
    yield Figure("messages a second", len(sent) / seconds, 40, "lower", f"in {seconds:.1f} s")
    floor = len(speech(CHARACTERS)) / TOKEN / RATE
    yield Figure("time against what saying it takes", seconds / floor, 1.1, "lower")
    size = sum(len(str(message)) for message in sent)
    yield Figure("characters sent for each that was said", size / len(speech(CHARACTERS)))


def _blocks(wire: Wire) -> list[str]:
    """The answer as a view has it that applied every delta."""
    blocks: list[str] = []
    for content in wire.contents:
        if content["kind"] == "delta":
            blocks[content["from"] :] = content["blocks"]
    return blocks
