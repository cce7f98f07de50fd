"""Answers that hold up: forty questions in conversations of three turns over real documents.

Of each question, the rank of the passage that answers it among the sources of the answer: as the
question is typed (searched without the conversation), as the server rewrites it for the built-in
model, and as a model asks that calls the search itself. That model is scripted: it searches for
what one would who knows the conversation, cites the first passage with the answer, and says
where there is none that it is not there. Its citations are held against the sentence's page.

Forty questions for the total of an invoice are asked of forty documents and of forty pages of one,
beside a library on other things.
"""

import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from benchmarks.report import Figure
from benchmarks.talk_documents import CONVERSATIONS, DOCUMENTS, Turn
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import serve
from support.spoken import SpokenModel, call, spoken_model

INVOICES = 40
_NOT_THERE = "The documents do not say."
_FIRMS = ("Amsel", "Birke", "Distel", "Eiche", "Falke", "Ginster", "Habicht", "Iltis")


def measure() -> Iterable[Figure]:
    """Ranks, citations and refusals, before and after."""
    with tempfile.TemporaryDirectory() as folder:
        parent = Path(folder)
        with serve(parent / "built-in") as server, connect(server) as http:
            library = _office(http, parent)
            yield from _ranks("as typed", (_typed(library, turn) for turn in _questions()))
            yield from _ranks("rewritten", _rewritten(http, library), least=33, refused=5)
            yield from _invoices(http, parent)
        with spoken_model() as model:
            data = parent / "address"
            with serve(data, "--model-url", model.url) as server, connect(server) as http:
                yield from _called(http, _office(http, parent), model)


def _questions() -> Iterator[Turn]:
    for conversation in CONVERSATIONS:
        yield from conversation


def _ranks(
    name: str,
    found: Iterable[Sequence[dict[str, Any]]],
    least: int | None = None,
    refused: int | None = None,
) -> Iterator[Figure]:
    """Where the page of each answer stands among the passages."""
    ranks = []
    empty = 0
    for turn, passages in zip(_questions(), found, strict=True):
        if turn.document is None:
            empty += not passages
            continue
        place = turn.document, turn.page - 1
        pages = [(one["document_name"], one["page"]) for one in passages]
        ranks.append(pages.index(place) + 1 if place in pages else 0)
    spread = ", ".join(f"{ranks.count(rank)} at {rank}" for rank in range(1, 6))
    detail = f"of {len(ranks)}; {spread}; {ranks.count(0)} not found"
    yield Figure(f"{name}: pages at rank 1", ranks.count(1), least, detail=detail)
    absent = sum(turn.document is None for turn in _questions())
    yield Figure(f"{name}: nothing given where nothing is", empty, refused, detail=f"of {absent}")


def _typed(library: LibraryUnderTest, turn: Turn) -> list[dict[str, Any]]:
    return library.search(turn.question, limit=5)


def _rewritten(http: httpx.Client, library: LibraryUnderTest) -> Iterator[list[dict[str, Any]]]:
    agent_id = _agent(http, library, "smollm2")
    for messages, _ in _talks():
        body = {"agent_id": agent_id, "messages": messages, "max_tokens": 1}
        message = _post(http, body)["choices"][0]["message"]
        yield message["sources"]


def _called(http: httpx.Client, library: LibraryUnderTest, model: SpokenModel) -> Iterator[Figure]:
    agent_id = _agent(http, library, "spoken")
    found, right, cited, refused = [], 0, 0, 0
    for messages, turn in _talks():
        model.answer = partial(_scripted, turn=turn)
        message = _post(http, {"agent_id": agent_id, "messages": messages})["choices"][0]["message"]
        sources = {one["index"]: one for one in message["sources"]}
        found.append(list(sources.values()) if message["content"] != _NOT_THERE else [])
        refused += turn.document is None and message["content"] == _NOT_THERE
        chunks = message["content"] if isinstance(message["content"], list) else []
        for chunk in chunks:
            for number in chunk.get("reference_ids", ()):
                cited += 1
                place = sources[number]["document_name"], sources[number]["page"]
                right += place == (turn.document, turn.page - 1)
    yield from _ranks("called by the model", found, least=33, refused=5)
    yield Figure("citations at the sentence's page", right / cited, 0.97, detail=f"of {cited}")


def _scripted(body: dict[str, Any], turn: Turn) -> dict[str, Any]:
    """A model that searches once, and cites the first passage with the answer."""
    result = body["messages"][-1]
    if result["role"] != "tool":
        return call("document_library", query=turn.query)
    for passage in result["content"].split("\n\n[")[0:]:
        if turn.answer and turn.answer in " ".join(passage.split()):
            name = passage.removeprefix("[").partition("]")[0].rpartition("[")[2]
            return {"content": f"{turn.answer} [{name}]."}
    return {"content": _NOT_THERE}


def _talks() -> Iterator[tuple[list[dict[str, str]], Turn]]:
    """Each question with the messages up to it; the answers before it are right."""
    for conversation in CONVERSATIONS:
        messages: list[dict[str, str]] = []
        for turn in conversation:
            messages.append({"role": "user", "content": turn.question})
            yield list(messages), turn
            messages.append({"role": "assistant", "content": turn.answer or _NOT_THERE})


def _invoices(http: httpx.Client, folder: Path) -> Iterator[Figure]:
    chance = random.Random(4)
    texts = [_invoice(chance, number) for number in chance.sample(range(1000, 9999), INVOICES)]
    apart, together = new_library(http), new_library(http)
    apart_ids = [apart.add(f"{number}.txt", text.encode()) for number, text in texts]
    together.processed("invoices.pdf", _pdf(folder / "i.pdf", [text for _, text in texts]))
    for id in apart_ids:
        apart.finished(id)
    for name, library in (("documents", apart), ("pages of one PDF", together)):
        first = sum(
            str(number)
            in library.search(f"What is the total of invoice {number}?", limit=1)[0]["snippet"]
            for number, _ in texts
        )
        yield Figure(f"invoices at rank 1, {name}", first, 39, detail=f"of {INVOICES}")


def _invoice(chance: random.Random, number: int) -> tuple[int, str]:
    total = f"{chance.randint(100, 9999)}.{chance.randint(10, 99)}"
    return number, (
        f"Invoice {number} of {chance.choice(_FIRMS)} Ltd. We delivered and charge what you "
        f"ordered. The total of this invoice is {total} euros, payable within 14 days."
    )


def _office(http: httpx.Client, folder: Path) -> LibraryUnderTest:
    library = new_library(http)
    for name, pages in DOCUMENTS.items():
        library.processed(name, _pdf(folder / name, pages))
    return library


def _pdf(path: Path, pages: Iterable[str]) -> bytes:
    canvas = Canvas(str(path), pagesize=A4)
    for page in pages:
        for line, words in enumerate(simpleSplit(page, "Helvetica", 11, 460)):
            canvas.setFont("Helvetica", 11)
            canvas.drawString(60, 780 - 15 * line, words)
        canvas.showPage()
    canvas.save()
    return path.read_bytes()


def _agent(http: httpx.Client, library: LibraryUnderTest, model: str) -> str:
    tool = {"type": "document_library", "library_ids": [library.id]}
    answer = http.post("/v1/agents", json={"model": model, "name": "clerk", "tools": [tool]})
    return str(json.loads(answer.text)["id"])


def _post(http: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    answer = http.post("/v1/agents/completions", json=body, timeout=120)
    answer.raise_for_status()
    return dict(answer.json())
