"""Another model for this machine's server, and for the agents that had the one before."""

import asyncio
import json
import os
import signal
import socket
import threading

from textual import events

from carrel.config.profiles import Profile, folders
from carrel.config.settings import Settings
from carrel.wire.generation.agents import AgentCreate
from support.model import serve_model
from support.workbench import workbench

MODELS = ("first", "second")


async def test_agents_whose_model_is_gone_are_offered_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve_model, args=(listener, 3, 0, MODELS), daemon=True).start()
        servers = {"Ollama": f"http://127.0.0.1:{listener.getsockname()[1]}"}
        async with workbench(Profile("local"), settings=Settings(model_servers=servers)) as bench:
            try:
                await bench.shows("smollm2 (test model)", wait=90)
                agents = bench.store.agents
                await agents.create(AgentCreate(name="clerk", model="smollm2"))
                await bench.press("4")
                await bench.shows("clerk")
                await bench.press("m")
                await bench.shows("Answers come from", *MODELS, "Built-in")
                await bench.press("down")
                await bench.leave("enter")
                await bench.shows("Answer with second?", "Everybody who uses this server", "clerk")
                await bench.leave("enter")
                await bench.shows("Switch clerk to", *MODELS, "Leave them", wait=60)
                await bench.leave("enter")
                await bench.until(lambda: agents.slice.value.items[0].model == "second")
                await bench.shows("v1", "Model second")
                await bench.press("m")
                await bench.shows("Answers come from", "Ollama", "Built-in")
                await bench.shows("second · Ollama  answers now")
                await bench.leave("escape")
                for key in ("m", "down", "enter"):
                    bench.app.post_message(events.Key(key, key if key == "m" else None))
                await bench.shows("Answers come from", "Ollama", "Built-in")
                # What was typed while it looked chose nothing.
                await asyncio.sleep(0.5)
                assert "Answer with" not in bench.text()
            finally:
                said = json.loads((folders().server / "server.json").read_text())
                os.kill(int(said["pid"]), signal.SIGTERM)
