"""A loop whose time passes only while everything waits, and a service that answers late on it."""

import asyncio
import contextlib
import json
import random
import re
import selectors
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx

THEN = "2026-01-01T00:00:00Z"
ANSWER = "Three months."
LONGEST = 12.0
"""Seconds an answer may take: longer than two looks at a list are apart."""
Answer = Any


class _Impatient(selectors.SelectSelector):
    """Waits for nothing: what would be waited for is added to the time."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        assert found or timeout is not None, "everything waits, and nothing will come"
        self.now += 0.0 if found else timeout or 0.0
        return found


class LateLoop(asyncio.SelectorEventLoop):
    """Its threads are functions that are called late, and whose results come later still."""

    def __init__(self, chance: random.Random) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)
        self._chance = chance

    def time(self) -> float:
        return self._impatient.now

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = self.create_future()

        def deliver(result: Any, error: Exception | None) -> None:
            if not future.done():
                future.set_result(result) if error is None else future.set_exception(error)

        def run() -> None:
            # Also when it is awaited no more: a thread goes on.
            result, error = None, None
            try:
                result = func(*args)
            except Exception as raised:
                error = raised
            self.call_later(self._chance.choice((0, 0, 0.3)), deliver, result, error)

        self.call_later(self._chance.choice((0, 0, 0.5)), run)
        return future


@dataclass
class LateService:
    """Files, libraries, agents and answers that come late, and now and then not at all.

    Every id tells where its thing belongs: `A-3` is a document of the library A, and what is read
    of `f-1` says so. `asked` are the changes that a user asked for. With `faults` some requests
    fail, before they have an effect or after it; when it is `slow` every list takes its time.
    `beside` gives the chats that are deleted with those that a user asked to delete.
    """

    chance: random.Random
    port: int = 1
    faults: bool = True
    slow: bool = False
    wrong: list[str] = field(default_factory=list)
    asked: set[tuple[str, ...]] = field(default_factory=set)
    beside: Callable[[], set[str]] = set
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    agents: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    active: dict[str, int] = field(default_factory=dict)
    conversations: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    numbers: int = 100

    def __post_init__(self) -> None:
        for number in range(8):
            self.add_file(f"f-{number}")
        for library in "ABC":
            self.documents[library] = {
                f"{library}-{number}": _document(library, f"{library}-{number}")
                for number in range(8)
            }
        for name in ("agent", "other"):
            self.agents[name] = [_agent(name, number) for number in range(4)]
            self.active[name] = 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_file(self, id: str, name: str = "") -> dict[str, Any]:
        kinds = {"purpose": "ocr", "sample_type": "ocr_input", "source": "upload"}
        name = name or id
        self.files[id] = {
            "id": id, "filename": name, "bytes": 3, "created_at": 1, "object": "file", **kinds,
        }  # fmt: skip
        return self.files[id]

    async def answer(self, request: httpx.Request) -> httpx.Response:
        """Stands in for the network: the change is made at some time between call and answer."""
        await request.aread()
        await asyncio.sleep(self._late())
        self._check_there(request)
        fault = self.faults and self.chance.random() < (0.3 if request.method == "PATCH" else 0.04)
        if fault and self.chance.random() < 0.5:
            self.refused.add(request.url.path)
            return httpx.Response(500, json={"detail": "not now"}, request=request)
        path = request.url.path
        if path == "/v1/agents/completions" and json.loads(request.content).get("stream"):
            return httpx.Response(
                200,
                headers={"content-type": "text/event-stream"},
                stream=_Words(self),
                request=request,
            )
        query = {name: values[-1] for name, values in parse_qs(request.url.query.decode()).items()}
        try:
            found = self._do(request.method, path.strip("/").split("/")[1:], query, request.content)
        except KeyError:
            return httpx.Response(404, json={"detail": "Not Found"}, request=request)
        if found is None:
            return httpx.Response(409, json={"detail": "changed meanwhile"}, request=request)
        if isinstance(found, list) or (isinstance(found, dict) and "data" in found):
            await asyncio.sleep(LONGEST if self.slow else self.chance.choice((0, 1, LONGEST)))
        await asyncio.sleep(self._late())
        self._check_there(request)
        if fault:
            raise httpx.ReadError("cut", request=request)
        if isinstance(found, bytes):
            return httpx.Response(200, content=found, request=request)
        return httpx.Response(200, json=found, request=request)

    def _check_there(self, request: httpx.Request) -> None:
        if request.url.port != self.port:
            raise httpx.ConnectError("refused", request=request)

    def _late(self) -> float:
        return self.chance.choice((0, 0, 0.1, 1, 3))

    def _do(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        match [method, *path]:
            case [_, *parts] if not parts or parts[0] in ("healthz", "models"):
                return {"data": [{"id": "large", "max_context_length": 8192}]}
            case ["POST", "files"]:
                name = re.search(rb'filename="([^"]*)"', body)
                assert name is not None
                self.numbers += 1
                return self.add_file(f"f-{self.numbers}", name[1].decode())
            case ["GET", "files"]:
                page = _page([*self.files.values()], query)
                return {"object": "list", "data": page, "total": len(self.files)}
            case ["GET", "files", id, "content"] if id in self.jobs:
                return self._answers(self.jobs[id])
            case ["GET", "files", id, "content"]:
                return content(self.files[id]["id"])
            case ["GET", "files", id, "url"]:
                return {"url": f"{self.url}/v1/signed/{self.files[id]['id']}"}
            case ["DELETE", "files", id]:
                self._expect("file", id)
                del self.files[id]
                return {"id": id, "object": "file", "deleted": True}
            case ["GET", "signed", id]:
                return content(id)
            case ["POST", "ocr"]:
                return self._read(json.loads(body))
            case ["POST", "agents", "completions"]:
                message = {"role": "assistant", "content": ANSWER}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                return {"id": "c", "model": "m", "created": 1, "usage": {}, "choices": [choice]}
            case [_, "batch", "jobs", *rest]:
                return self._job(method, rest, query, body)
            case [_, "libraries", *rest]:
                return self._library(method, rest, query, body)
            case [_, "agents", *rest]:
                return self._agent(method, rest, query, body)
            case [_, "conversations", *rest]:
                return self._conversation(method, rest, query, body)
        raise AssertionError(f"{method} {path}")

    def _library(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        match [method, *path]:
            case ["GET"]:
                listed = [_library(name, len(held)) for name, held in self.documents.items()]
                return {"data": _page(listed, query)}
            case ["POST"]:
                self.numbers += 1
                self.documents[f"L{self.numbers}"] = {}
                return _library(f"L{self.numbers}", 0)
            case ["GET", id, "search"]:
                hit = next(iter(self.documents[id].values()), None)
                hits = [] if hit is None else [{
                    "document_id": hit["id"], "document_name": hit["name"], "page": 0,
                    "snippet": "…", "score": 1.0,
                }]  # fmt: skip
                return {"data": hits}
            case ["GET", id, "documents"]:
                held = [*self.documents[id].values()]
                total = {"total_items": len(held), "total_pages": 1, "current_page": 0}
                pagination = {**total, "page_size": 3, "has_more": False}
                return {"data": _page(held, query), "pagination": pagination}
            case ["GET", id, "documents", document, "text_content"]:
                return {"text": f"text of {self.documents[id][document]['id']}"}
            case ["GET", id, "documents", document, "signed-url"]:
                return f"{self.url}/v1/signed/{self.documents[id][document]['id']}"
            case ["PUT", id, "documents", document]:
                self._expect("rename", id, document)
                self.documents[id][document]["name"] = json.loads(body)["name"]
                return self.documents[id][document]
            case ["DELETE", id, "documents", document]:
                self._expect("document", id, document)
                del self.documents[id][document]
                return {}
        raise AssertionError(f"{method} {path}")

    def _agent(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        match [method, *path]:
            case ["GET"]:
                return _page([self.agent(id) for id in self.agents], query)
            case ["GET", id]:
                return self.agent(id)
            case ["GET", id, "versions"]:
                number = len(self.agents[id])
                return _page([self._version(id, n) for n in reversed(range(number))], query)
            case ["GET", id, "versions", version]:
                return self._version(id, int(version))
            case ["GET", id, "aliases"]:
                return []
            case ["PUT", id, "aliases"]:
                raise KeyError(id)  # a service need not have them
            case ["POST"]:
                self.numbers += 1
                made = _agent(f"agent-{self.numbers}", 0)
                self.agents[made["id"]] = [{**made, **json.loads(body)}]
                self.active[made["id"]] = 0
                return self.agent(made["id"])
            case ["DELETE", id]:
                if not id.startswith("agent-"):
                    self.wrong.append(f"nobody asked for: agent {id}")
                del self.agents[id], self.active[id]
                return {}
            case ["PATCH", id, "version"]:
                self.active[id] = int(query["version"])
                return self.agent(id)
            case ["PATCH", id]:
                number = len(self.agents[id])
                self.agents[id].append({**self.agent(id), **json.loads(body), "version": number})
                self.active[id] = number
                return self.agent(id)
        raise AssertionError(f"{method} {path}")

    def _conversation(
        self, method: str, path: list[str], query: dict[str, str], body: bytes
    ) -> Answer:
        held = self.conversations
        match [method, *path]:
            case ["GET"]:
                return _page([*held.values()], query)
            case ["GET", id]:
                return held[id]
            case ["GET", id, "history"]:
                return {"conversation_id": id, "entries": held[id]["entries"]}
            case ["PUT", id]:
                written = json.loads(body)
                read = written.pop("updated_at", None)
                if read != (held[id]["updated_at"] if id in held else None):
                    return None
                entries = held[id]["entries"][: written.pop("keep", 0)] if id in held else []
                self.numbers += 1
                then = {"created_at": THEN, "updated_at": f"2026-01-01T00:00:00.{self.numbers:06}Z"}
                held[id] = {"id": id, **then, **written, "entries": entries + written["entries"]}
                return held[id]
            case ["DELETE", id]:
                self._expect("chat", id)
                del held[id]
                return {}
        raise AssertionError(f"{method} {path}")

    def _job(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        match [method, *path]:
            case ["GET"]:
                for job in self.jobs.values():
                    ends = self.slow or self.chance.random() < 0.3
                    if job["status"] == "RUNNING" and ends:
                        job.update(status="SUCCESS", output_file=job["id"])
                return {"data": _page([*self.jobs.values()][::-1], query), "total": len(self.jobs)}
            case ["GET", id]:
                return self.jobs[id]
            case ["POST"]:
                self.numbers += 1
                made = json.loads(body)
                self.jobs[f"job-{self.numbers}"] = {
                    "id": f"job-{self.numbers}", "input_files": [], "endpoint": made["endpoint"],
                    "errors": [], "status": "RUNNING", "created_at": 1,
                    "metadata": made["metadata"],
                    "total_requests": len(made["requests"]), "completed_requests": 0,
                    "succeeded_requests": 0, "failed_requests": 0, "requests": made["requests"],
                }  # fmt: skip
                return self.jobs[f"job-{self.numbers}"]
            case ["POST", id, "cancel"]:
                self._expect("job", id)
                if self.jobs[id]["status"] == "RUNNING":
                    self.jobs[id]["status"] = "CANCELLED"
                return self.jobs[id]
        raise AssertionError(f"{method} {path}")

    def _answers(self, job: dict[str, Any]) -> bytes:
        """The output file of a job."""
        lines = [
            {"custom_id": one["custom_id"], "response": {"body": self._read(one["body"])}}
            for one in job["requests"]
        ]
        return "\n".join(map(json.dumps, lines)).encode()

    def agent(self, id: str) -> dict[str, Any]:
        """An agent as its active version has it."""
        return self._version(id, self.active[id])

    def _version(self, id: str, number: int) -> dict[str, Any]:
        versions = [*range(len(self.agents[id]))]
        return {**self.agents[id][number], "versions": versions}

    def _read(self, request: dict[str, Any]) -> Answer:
        document = request["document"]
        id = document.get("file_id") or document["document_url"].rpartition("/")[2]
        pages = request["pages"] if request.get("pages") is not None else range(3)
        read = [
            {"index": page, "markdown": f"page {page} of {id}.", "dimensions": None}
            for page in pages
        ]
        usage = {"pages_processed": len(read), "doc_size_bytes": 3}
        return {"pages": read, "model": "ocr", "usage_info": usage}

    def _expect(self, *change: str) -> None:
        if change not in self.asked and change[-1] not in self.beside():
            self.wrong.append(f"nobody asked for: {' '.join(change)}")


class _Words(httpx.AsyncByteStream):
    """An answer, word by word."""

    def __init__(self, service: LateService) -> None:
        self._service = service

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for word in (ANSWER[:6], ANSWER[6:]):
            await asyncio.sleep(self._service._late())
            yield _event({"content": word}, None)
        yield _event({}, "stop")
        yield b"data: [DONE]\n\n"

    async def aclose(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


def content(id: str) -> bytes:
    """The bytes of a file or document."""
    return f"bytes of {id}.".encode().ljust(100)


def _event(delta: dict[str, Any], reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n".encode()


def _page(items: list[Any], query: dict[str, str]) -> list[Any]:
    size = int(query.get("page_size", 100))
    first = int(query.get("page", 0)) * size
    return items[first : first + size]


def _library(id: str, number: int) -> dict[str, Any]:
    return {
        "id": id, "name": id, "created_at": THEN, "updated_at": THEN, "owner_id": "me",
        "owner_type": "User", "total_size": 1, "nb_documents": number, "chunk_size": None,
    }  # fmt: skip


def _document(library: str, id: str) -> dict[str, Any]:
    return {
        "id": id, "library_id": library, "name": id, "created_at": THEN, "hash": None,
        "mime_type": None, "extension": None, "size": 1, "process_status": "done",
        "processing_status": "Completed", "uploaded_by_id": None, "uploaded_by_type": "User",
        "tokens_processing_total": 1,
    }  # fmt: skip


def _agent(id: str, version: int) -> dict[str, Any]:
    return {
        "id": id, "name": id, "model": "large", "version": version, "created_at": THEN,
        "updated_at": THEN, "instructions": f"version {version}",
    }  # fmt: skip
