"""A fake service of agents, without a socket, whose answers come from a function."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx

from carrel.client import Client

DATE = "2026-01-01T00:00:00Z"
Answer = Callable[[dict[str, Any], str], str | httpx.Response]


class Engine:
    """Agents by id, each a list of versions; `answer` gets an agent's version and a question."""

    def __init__(self, answer: Answer, *agents: str) -> None:
        self.answer = answer
        self.agents: dict[str, list[dict[str, Any]]] = {
            name: [{"instructions": name}] for name in agents
        }
        self.made: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.refusals: list[httpx.Response] = []
        """Answered before anything else, one for each question."""
        self.pause = 0.0

    def client(self) -> Client:
        return Client("http://engine", None, transport=httpx.MockTransport(self._respond))

    def agent(self, name: str, version: int | None = None) -> dict[str, Any]:
        versions = self.agents[name]
        number = len(versions) - 1 if version is None else version
        return {
            "id": name,
            "name": name,
            "model": "fake",
            "version": number,
            "versions": list(range(len(versions))),
            "created_at": DATE,
            "updated_at": DATE,
            **versions[number],
        }

    async def _respond(self, request: httpx.Request) -> httpx.Response:
        path, method = request.url.path, request.method
        body = json.loads(request.content or b"{}")
        if path == "/v1/agents/completions":
            return await self._complete(body)
        if path == "/v1/embeddings":
            return httpx.Response(200, json=_vectors(body["input"]))
        if path == "/v1/agents" and method == "POST":
            name = f"made{len(self.made)}"
            self.made.append(name)
            self.agents[name] = [body]
            return httpx.Response(200, json=self.agent(name))
        if path == "/v1/agents":
            page = int(request.url.params.get("page", 0))
            listed = [] if page else [self.agent(name) for name in self.agents]
            return httpx.Response(200, json=listed)
        name, *rest = path.removeprefix("/v1/agents/").split("/")
        if name not in self.agents:
            return httpx.Response(404, json={"detail": "Not Found"})
        if method == "DELETE":
            del self.agents[name]
            return httpx.Response(204)
        if rest and int(rest[1]) >= len(self.agents[name]):
            return httpx.Response(404, json={"detail": "Not Found"})
        return httpx.Response(200, json=self.agent(name, int(rest[1]) if rest else None))

    async def _complete(self, body: dict[str, Any]) -> httpx.Response:
        self.asked.append(body)
        await asyncio.sleep(self.pause)
        if self.refusals:
            return self.refusals.pop(0)
        if body["agent_id"] not in self.agents:
            return httpx.Response(404, json={"detail": "Not Found"})
        agent = self.agent(body["agent_id"])
        said = self.answer(agent, body["messages"][-1]["content"])
        if isinstance(said, httpx.Response):
            return said
        return httpx.Response(200, json=completion(said, agent["version"]))


def completion(text: str, version: int = 0, **message: Any) -> dict[str, Any]:
    """A whole answer of 5 and 3 tokens."""
    return {
        "id": "c",
        "model": "fake",
        "created": 1,
        "agent_version": version,
        "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": text, **message}}],
    }


def _vectors(texts: list[str]) -> dict[str, Any]:
    """Vectors of how often each letter is in a text."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    data = [
        {"index": index, "embedding": [float(text.lower().count(one)) for one in letters]}
        for index, text in enumerate(texts)
    ]
    return {"id": "e", "model": "fake", "data": data, "usage": {}}
