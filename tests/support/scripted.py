"""A service on a real socket whose agent says what a test tells it to, when it tells it to."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

AGENT = {
    "id": "agent",
    "name": "support",
    "model": "large",
    "version": 4,
    "versions": [0, 1, 2, 3, 4],
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}


class Voice:
    """What an agent says; `say` sends a fragment of the answer that is open."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()  # the other side has closed an open answer
        self._events: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self._turn = asyncio.Lock()
        """Of several answers under way, one after the other takes what is said."""

    def say(self, text: str) -> None:
        """The next fragment."""
        self._chunk({"content": text})

    def cite(self, *numbers: int) -> None:
        """A citation of some sources."""
        self._chunk({"content": [{"type": "reference", "reference_ids": list(numbers)}]})

    def think(self, text: str) -> None:
        """The next piece of thinking."""
        thinking = [{"type": "text", "text": text}]
        self._chunk({"content": [{"type": "thinking", "thinking": thinking}]})

    def finish(
        self,
        *,
        tokens: tuple[int, int] = (10, 5),
        sources: list[dict[str, Any]] | None = None,
        version: int = 4,
        reason: str = "stop",
    ) -> None:
        """The last event, with the counts of the prompt's and the answer's tokens."""
        delta = {} if sources is None else {"sources": sources}
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
        self._chunk(delta, finish_reason=reason, usage=usage, agent_version=version)
        self._events.put_nowait(("", "[DONE]"))
        self._events.put_nowait(None)

    def step(self, **progress: Any) -> None:
        """A step before the first word."""
        self._events.put_nowait(("progress", json.dumps(progress)))

    def call(self, *calls: tuple[str, str, str]) -> None:
        """The answer's end with calls of functions, each an id, a name and arguments."""
        named = [
            {"id": id, "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ]
        self._chunk({"tool_calls": named}, finish_reason="tool_calls", agent_version=4)
        self._events.put_nowait(None)

    def fail(self, message: str) -> None:
        """An error in the middle of the answer."""
        self._events.put_nowait(("", json.dumps({"error": {"message": message}})))
        self._events.put_nowait(None)

    def break_off(self) -> None:
        """The connection ends without the last event."""
        self._events.put_nowait(None)

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        data = json.dumps({"id": "c", "model": "m", "choices": [choice], **more})
        self._events.put_nowait(("", data))

    async def stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Passes on what is said until the answer ends or the other side closes it."""
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"connection: close\r\n\r\n")
        gone = asyncio.create_task(reader.read())
        async with self._turn:
            await self._speak(writer, gone)

    async def _speak(self, writer: asyncio.StreamWriter, gone: "asyncio.Task[bytes]") -> None:
        while True:
            event = asyncio.create_task(self._events.get())
            done, _ = await asyncio.wait({event, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone in done:
                event.cancel()
                self.closed.set()
                return
            said = event.result()
            if said is None:
                gone.cancel()
                return
            name, data = said
            named = f"event: {name}\n" if name else ""
            writer.write(f"{named}data: {data}\n\n".encode())
            await writer.drain()


class ScriptedService(Voice):
    """Answers for one agent, and for others by name that have a voice of their own.

    Agents that are made on it are `made`, and leave it again; `uploads` and `files` are the
    files that it takes and lists.
    """

    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.agent: dict[str, Any] = dict(AGENT)
        self.voices: dict[str, Voice] = {}
        self.models: dict[str, Any] | None = {"data": [{"id": "large", "max_context_length": 8192}]}
        self.requests: list[dict[str, Any]] = []
        self.made: list[dict[str, Any]] = []
        self.removed: list[str] = []
        self.files: list[str] = []
        self.uploads = 0

    def voice(self, name: str) -> Voice:
        """The voice of another agent, which has that name and id."""
        return self.voices.setdefault(name, Voice())

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(fields.get("content-length", 0)))
            method, target, _ = head[0].split()
            path = target.partition("?")[0]
            if path == "/v1/agents/completions":
                self.requests.append(json.loads(body))
                voice = self.voices.get(self.requests[-1]["agent_id"], self)
                await voice.stream(reader, writer)
            elif method == "POST" and path == "/v1/agents":
                self.made.append(json.loads(body))
                _send_json(writer, {**AGENT, **self.made[-1], "id": "trial", "version": 0})
            elif path == "/v1/agents":
                _send_json(writer, [self.agent, *map(self._named, self.voices)])
            elif method == "DELETE":
                self.removed.append(path.rpartition("/")[2])
                writer.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
            elif method == "POST" and path == "/v1/files":
                self.uploads += 1
                _send_json(writer, _file("uploaded"))
            else:
                _send_json(writer, self._known(path))
        finally:
            writer.close()

    def _named(self, name: str) -> dict[str, Any]:
        return {**AGENT, "id": name, "name": name}

    def _known(self, path: str) -> dict[str, Any] | None:
        if path.startswith("/v1/agents/agent/versions/"):
            return {**self.agent, "version": int(path.rpartition("/")[2])}
        if path.startswith("/v1/files/") and path.endswith("/url"):
            return {"url": f"{self.url}/signed/{path.split('/')[3]}"}
        if (name := path.rpartition("/")[2]) in self.voices:
            return self._named(name)
        return {
            "/healthz": {},
            "/v1/models": self.models,
            "/v1/agents/agent": self.agent,
            "/v1/files": {"object": "list", "data": [_file(name) for name in self.files]},
        }.get(path)


def _file(name: str) -> dict[str, Any]:
    """A file whose id is its name."""
    kinds = {"purpose": "ocr", "sample_type": "ocr_input", "source": "upload"}
    return {"id": name, "filename": name, "bytes": 3, "created_at": 1, "object": "file", **kinds}


def _send_json(writer: asyncio.StreamWriter, content: object) -> None:
    status = "200 OK" if content is not None else "404 Not Found"
    body = json.dumps(content if content is not None else {"detail": "Not Found"}).encode()
    writer.write(f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n".encode())
    writer.write(f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)


@asynccontextmanager
async def scripted_service() -> AsyncIterator[ScriptedService]:
    """A scripted service that listens on this machine."""
    service = ScriptedService()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield service
    finally:
        server.close()
