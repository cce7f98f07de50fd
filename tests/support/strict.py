"""A hosted service's libraries, and nothing that its documentation does not name."""

import asyncio
import contextlib
import email.parser
import email.policy
import hashlib
import itertools
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from support.service import Request, Service, reply, service

LIBRARY = "0a1b2c3d-0000-4000-8000-000000000001"


@dataclass
class StrictLibrary:
    """One library, by the documented endpoints alone.

    Its hashes are MD5, of an algorithm that the interface does not name; an upload is answered
    with 200 whether the document is new or not; the newest is listed first. `meddle` may answer
    a request in its place. While `gate` is cleared, requests wait. Without a name there is no
    library until one is made.
    """

    name: str | None = "contracts"
    made: list[str] = field(default_factory=list)

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)
    meddle: Callable[[Request], bytes | None] = lambda request: None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    service: Service = field(default_factory=Service)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def held(self) -> dict[str, bytes]:
        """The documents' contents by their names."""
        return {each["name"]: self.contents[id] for id, each in self.documents.items()}

    def asked(self, method: str) -> int:
        """How many requests of this method were made."""
        return sum(made == method for made, _ in self.requests)

    async def answer(self, request: Request) -> None:
        address = urlsplit(request.target)
        self.requests.append((request.method, address.path))
        await self.gate.wait()
        answer = self.meddle(request)
        if answer is None:
            answer = self._answer(request, address.path, dict(parse_qsl(address.query)))
        await request.write(answer)

    def add(self, name: str, content: bytes) -> str:
        """What an upload does; gives the document's id."""
        hash = hashlib.md5(content).hexdigest()
        for id, document in self.documents.items():
            if document["hash"] == hash:
                return id
        id = f"0a1b2c3d-0000-4000-8001-{next(self._ids):012}"
        self.contents[id] = content
        self.documents[id] = {
            "id": id,
            "library_id": LIBRARY,
            "name": name.rpartition("/")[2],
            "created_at": "2026-01-01T00:00:00Z",
            "extension": None,
            "hash": hash,
            "mime_type": None,
            "size": len(content),
            "processing_status": "Running",
            "tokens_processing_total": 0,
            "uploaded_by_id": None,
            "uploaded_by_type": "User",
        }
        return id

    def _answer(self, request: Request, path: str, query: dict[str, str]) -> bytes:
        parts = unquote(path).strip("/").split("/")
        match (request.method, parts, query):
            case ("GET", ["v1", "models"], _):  # how a workbench sees that a service answers
                return reply({"object": "list", "data": []})
            case ("GET", ["v1", "libraries"], _):
                return reply({"data": [self._library()] if self.name else []})
            case ("POST", ["v1", "libraries"], _):
                self.name = json.loads(request.body)["name"]
                self.made.append(self.name)
                return reply(self._library(), 201)
            case ("GET", ["v1", "libraries", id], {**none}) if id == LIBRARY and not none:
                return reply(self._library())
            case ("GET", ["v1", "libraries", id, "documents"], _) if id == LIBRARY:
                return self._list(query)
            case ("POST", ["v1", "libraries", id, "documents"], {**none}) if (
                id == LIBRARY and not none
            ):
                name, content = _file(request)
                self.uploads.append(name)
                return reply(self.documents[self.add(name, content)])
            case ("GET", ["v1", "libraries", _, "documents", id], _) if id in self.documents:
                return reply(self.documents[id])
            case ("PUT", ["v1", "libraries", _, "documents", id], _) if id in self.documents:
                changes = json.loads(request.body)
                if set(changes) - {"name"}:
                    return reply({"detail": "unknown field"}, 422)
                self.documents[id] |= changes
                return reply(self.documents[id])
            case ("DELETE", ["v1", "libraries", _, "documents", id], _) if id in self.documents:
                del self.documents[id], self.contents[id]
                return reply(b"", 204)
        return reply({"detail": "Not Found"}, 404)

    def _library(self) -> dict[str, Any]:
        return {
            "id": LIBRARY,
            "name": self.name,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "nb_documents": len(self.documents),
            "total_size": 0,
            "owner_id": None,
            "owner_type": "User",
            "chunk_size": None,
        }

    def _list(self, query: dict[str, str]) -> bytes:
        if query.keys() - {"page", "page_size", "sort_by", "sort_order"}:
            return reply({"detail": "unknown parameter"}, 422)
        page, size = int(query["page"]), int(query["page_size"])
        documents = list(reversed(self.documents.values()))
        pages = -(-len(documents) // size)
        pagination = {
            "current_page": page,
            "page_size": size,
            "total_items": len(documents),
            "total_pages": pages,
            "has_more": page + 1 < pages,
        }
        data = documents[page * size : (page + 1) * size]
        return reply({"data": data, "pagination": pagination})


@contextlib.asynccontextmanager
async def strict_library() -> AsyncIterator[StrictLibrary]:
    """Runs such a service."""
    library = StrictLibrary()
    async with service(library.answer) as library.service:
        yield library


def _file(request: Request) -> tuple[str, bytes]:
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    [part] = parser.parsebytes(head + request.body).iter_parts()
    assert part.get_param("name", header="content-disposition") == "file"
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return part.get_filename() or "", content
