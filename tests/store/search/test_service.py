"""One search over all libraries and chats, of a real service."""

import time
from pathlib import Path

import pytest

from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.sessions.saved import ChatSession
from carrel.store.search.formatting import group_hits, place_of, places_words
from carrel.store.search.service import FoundPassage, SearchedPlaces
from carrel.store.store import Store

LONG = "Before. " * 60


def chat(number: int, *said: str) -> ChatSession:
    turns = [Turn("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]
    return ChatSession(f"s{number}", "a", "clerk", time.time() + number, Conversation.of(*turns))


async def test_passages_of_all_libraries_and_chats_are_found(store: Store, tmp_path: Path) -> None:
    for name, text in (("leases", "The notice period is three months."), ("notes", "Buy milk.")):
        (tmp_path / f"{name}.txt").write_text(text)
        library = await store.libraries.create(name)
        assert library is not None
        document = await store.libraries.upload(library.id, tmp_path / f"{name}.txt")
        assert document is not None
        await store.libraries.wait_processed(document)
    store.chats.save(chat(1, "Which period?", f"{LONG}The period of NOTICE is long. {LONG}"))
    store.chats.save(chat(2, "Which milk?", "None."))

    state = await store.search.search(" notice period ")
    assert state is not None and not state.searching
    assert state.places == SearchedPlaces(libraries=2, chats=2)
    lease = state.found[0]
    assert (lease.name, lease.group, lease.kind) == ("leases.txt", "leases", "document")
    assert "«notice» «period»" in lease.passage
    [said] = [hit for hit in state.found if hit.kind == "chat"]
    assert (said.id, said.name, said.group) == ("s1", "Which period?", "clerk")
    assert said.passage.startswith("… Before.") and said.passage.endswith(" …")
    assert "The «period» of «NOTICE» is long." in said.passage
    assert state.found[-1] == said

    nothing = await store.search.search("zebra")
    assert nothing is not None and not [hit for hit in nothing.found if hit.kind == "chat"]
    await store.search.search("")
    assert store.search.slice.value.query == ""


def test_hits_stand_by_library_with_their_page() -> None:
    found = (
        FoundPassage("document", "d", "lease.pdf", "leases", "a", "l1", 1),
        FoundPassage("document", "d", "lease.pdf", "leases", "b", "l1", None),
        FoundPassage("document", "e", "other.pdf", "leases", "c", "l2", 0),
        FoundPassage("chat", "s", "Which?", "clerk", "d"),
    )
    groups = [(title, [place_of(hit) for hit in hits]) for title, hits in group_hits(found)]
    assert groups == [
        ("leases · 2 passages", ["lease.pdf p. 2", "lease.pdf"]),
        ("leases · 1 passage", ["other.pdf p. 1"]),
        ("Chats · 1 passage", ["Which? · clerk"]),
    ]


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (SearchedPlaces(1, 1), "Looked through 1 library and 1 chat of this machine"),
        (
            SearchedPlaces(0, 12, 3),
            "Looked through 0 libraries and 12 chats of this machine; this service cannot search"
            " 3 libraries",
        ),
    ],
)
def test_what_was_looked_through_is_said(places: SearchedPlaces, words: str) -> None:
    assert places_words(places) == words
