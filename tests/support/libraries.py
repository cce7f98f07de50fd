"""Libraries over plain HTTP, as a test sees them."""

import time
from typing import Any

import httpx

from support.process import RunningServer

FINAL = ("done", "error")


def connect(server: RunningServer) -> httpx.Client:
    """A client of the server that carries its key."""
    headers = {"Authorization": f"Bearer {server.api_key}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=30)


class LibraryUnderTest:
    """One library, by the requests an official client would send."""

    def __init__(self, http: httpx.Client, library_id: str) -> None:
        self.http = http
        self.id = library_id
        self.path = f"/v1/libraries/{library_id}"

    def upload(self, name: str, data: bytes) -> httpx.Response:
        """Uploads a document."""
        return self.http.post(f"{self.path}/documents", files={"file": (name, data)})

    def add(self, name: str, data: bytes) -> str:
        """Uploads a document and returns its id."""
        response = self.upload(name, data)
        assert response.status_code == 200, response.text
        return str(response.json()["id"])

    def document(self, id: str) -> dict[str, Any]:
        """A document as it is now."""
        return self._json(f"documents/{id}")

    def finished(self, id: str, seconds: float = 60) -> dict[str, Any]:
        """A document once its processing has ended."""
        deadline = time.monotonic() + seconds
        while True:
            document = self.document(id)
            if document["process_status"] in FINAL:
                return document
            assert time.monotonic() < deadline, f"not processed in time: {document}"
            time.sleep(0.02)

    def processed(self, name: str, data: bytes) -> str:
        """Uploads a document, waits until it is searchable and returns its id."""
        id = self.add(name, data)
        document = self.finished(id)
        assert document["process_status"] == "done", document
        return id

    def documents(self, **query: Any) -> dict[str, Any]:
        """A page of the library's documents."""
        return self._json("documents", **query)

    def text(self, id: str, **query: Any) -> str:
        """A document's text."""
        return str(self._json(f"documents/{id}/text_content", **query)["text"])

    def search(self, query: str, limit: int = 10) -> list[dict[str, Any]]:
        """What a search finds."""
        hits: list[dict[str, Any]] = self._json("search", query=query, limit=limit)["data"]
        return hits

    def marked(self, word: str) -> list[dict[str, Any]]:
        """The hits in which a search has marked the word itself."""
        return [hit for hit in self.search(word, 100) if word in matched(hit)]

    def _json(self, path: str, **query: Any) -> dict[str, Any]:
        response = self.http.get(f"{self.path}/{path}", params=query)
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body


def matched(hit: dict[str, Any]) -> list[str]:
    """The matched words of a hit, in small letters."""
    snippet: str = hit["snippet"].lower()
    return [snippet[match["start"] : match["end"]] for match in hit["matches"]]


def new_library(http: httpx.Client, **settings: Any) -> LibraryUnderTest:
    """A fresh library."""
    response = http.post("/v1/libraries", json={"name": "Reading room", **settings})
    assert response.status_code == 201, response.text
    return LibraryUnderTest(http, response.json()["id"])
