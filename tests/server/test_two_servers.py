"""Two servers of one storage, of which one alone takes jobs: a client may ask either."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.server.admin.keys import KeyChain
from support import storage
from support.batches import create, ended, question
from support.home import own_home
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import serve
from support.spoken import SpokenModel, echo, spoken_model

pytestmark = storage.only_alone

CHAT = "/v1/chat/completions"
Two = tuple[httpx.Client, httpx.Client]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Two, SpokenModel, KeyChain]]:
    """A client of the server that only answers, and one of the server that works, too."""
    folder: Path = tmp_path_factory.mktemp("team")
    with pytest.MonkeyPatch.context() as patch, spoken_model() as model:
        own_home(patch, folder / "home")
        patch.setattr(storage, "SHARED", True)
        limits = "[limits]\nkey_tokens_per_minute = 30\n"
        for name in ("answers", "works"):
            (folder / name).mkdir()
            (folder / name / "settings.toml").write_text(limits)
        options = [*storage.options(folder), "--model-url", model.url]
        with (
            serve(folder / "answers", *options, "--no-worker") as answers,
            serve(folder / "works", *options) as works,
            connect(answers) as one,
            connect(works) as other,
        ):
            yield (one, other), model, storage.key_chain(folder)


@pytest.fixture
def model(team: tuple[Two, SpokenModel, KeyChain]) -> Iterator[SpokenModel]:
    """The model of both."""
    model = team[1]
    model.asked.clear()
    yield model
    model.answer = echo


@pytest.fixture
def two(team: tuple[Two, SpokenModel, KeyChain]) -> Two:
    return team[0]


def test_a_batch_is_cancelled_by_the_server_that_does_not_run_it(
    two: Two, model: SpokenModel
) -> None:
    go_on = threading.Event()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        go_on.wait(60)
        return echo(body)

    model.answer = answer
    try:
        job = create(two[0], CHAT, requests=[{"body": question("held")}])
        model.wait_for_questions(1)
        asked = two[0].post(f"/v1/batch/jobs/{job['id']}/cancel").raise_for_status().json()
        assert asked["status"] == "CANCELLATION_REQUESTED"
        done = ended(two[1], job["id"])
        assert not go_on.is_set()
    finally:
        go_on.set()
    assert (done["status"], done["completed_requests"]) == ("CANCELLED", 0)


def _text(number: int) -> bytes:
    return f"Invoice {number}. The payment must arrive within thirty days.".encode()


def test_one_finds_at_once_what_the_other_was_given_and_no_longer_what_it_deleted(
    two: Two,
) -> None:
    one, other = two
    library = new_library(one)
    there = LibraryUnderTest(other, library.id)
    ids = [library.processed(f"{n}.md", _text(n)) for n in range(3)]
    # Either has the vectors in mind when the next document comes.
    assert (
        len(library.search("when is the money due"))
        == len(there.search("when is the money due"))
        == 3
    )
    ids.append(there.processed("3.md", _text(3)))
    assert {hit["document_id"] for hit in library.search("when is the money due")} == set(ids)
    first = library.documents(page_size=2)
    second = there.documents(page_size=2, page=1)
    assert {item["id"] for item in (*first["data"], *second["data"])} == set(ids)
    one.delete(f"{library.path}/documents/{ids[0]}").raise_for_status()
    assert {hit["document_id"] for hit in there.search("when is the money due")} == set(ids[1:])
    other.post(f"/v1/trash/{ids[0]}/restore").raise_for_status()
    assert library.finished(ids[0])["process_status"] == "done"


def test_a_conversation_goes_on_at_the_other(two: Two, model: SpokenModel) -> None:
    one, other = two
    begun = one.post("/v1/conversations", json={"model": "spoken", "inputs": "Alpha"}).json()
    path = f"/v1/conversations/{begun['conversation_id']}"
    for number, http in enumerate((other, one, other)):
        http.post(path, json={"inputs": f"Beta {number}"}).raise_for_status()
    said = [entry["content"] for entry in one.get(f"{path}/history").json()["entries"]]
    assert said[::2] == said[1::2] == ["Alpha", "Beta 0", "Beta 1", "Beta 2"]
    last = [message["content"] for message in model.asked[-1]["messages"]]
    assert last == [*said[:6], "Beta 2"]


def test_a_key_is_good_and_revoked_at_both_at_once_and_each_counts_its_own_requests(
    two: Two, team: tuple[Two, SpokenModel, KeyChain]
) -> None:
    chain = team[2]
    _, key = chain.add("bert", "guests", "bert")
    headers = {"authorization": f"Bearer {key}"}

    def asked(http: httpx.Client) -> int:
        return http.post(CHAT, headers=headers, json=question("Again?")).status_code

    one, other = two
    answers = [asked(one) for _ in range(6)]
    assert (answers[0], answers[-1]) == (200, 429)
    assert asked(other) == 200
    chain.revoke("bert")
    assert [asked(one), asked(other)] == [401, 401]
