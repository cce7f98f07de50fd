"""One search over all libraries and chats, from any place."""

import time
from pathlib import Path

from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.sessions.saved import ChatSession
from carrel.wire.generation.agents import AgentCreate
from support.process import RunningServer
from support.workbench import profile_of, workbench


async def test_a_passage_is_found_from_any_place_and_opened(
    server: RunningServer, tmp_path: Path
) -> None:
    async with workbench(profile_of(server)) as bench:
        store = bench.store
        (tmp_path / "lease.txt").write_text("The notice period is three months.")
        library = await store.libraries.create("contracts")
        assert library is not None
        document = await store.libraries.upload(library.id, tmp_path / "lease.txt")
        assert document is not None
        await store.libraries.wait_processed(document)
        said = Conversation.of(Turn("user", "Which notice period?"), Turn("assistant", "Three."))
        store.chats.save(ChatSession("s1", "a", "clerk", time.time(), said))

        await bench.press("4", "ctrl+f")
        await bench.shows("Search libraries and chats")
        await bench.type("notice period")
        await bench.shows("contracts · 1 passage", "lease.txt", "«notice» «period»")
        await bench.shows("Chats · 1 passage", "Which notice period? · clerk")
        await bench.shows("Looked through 1 library and 1 chat of this machine.")
        await bench.press("enter")
        await bench.shows("[3 Document]", "lease.txt")

        # The palette has it, too.
        await bench.press("ctrl+p")
        await bench.type(">search lib")
        await bench.shows("Search libraries and chats", "ctrl+f")
        await bench.leave("enter")
        await bench.shows("what to look for in all libraries and chats")
        await bench.leave("escape")


async def test_a_chat_opens_at_the_turn_that_was_found(server: RunningServer) -> None:
    async with workbench(profile_of(server)) as bench:
        turns = [Turn("user", f"Question {number}?\n\nAnd more of it.") for number in range(40)]
        turns[5] = Turn("user", "What does the marmalade clause say?")
        other = Conversation.of(*turns).cut_before(4).add(Turn("user", "Another way."))
        client = await bench.store.session.client()
        agent = await client.agents.create(AgentCreate(model="smollm2", name="clerk"))
        bench.store.chats.save(ChatSession("s1", agent.id, "clerk", time.time(), other))
        await bench.press("ctrl+f")
        await bench.shows("what to look for in all libraries and chats")
        await bench.type("marmalade")
        await bench.shows("«marmalade»")
        await bench.press("enter")
        # It stands on a variant of the path that was open last.
        await bench.shows("[5 Chat]", "What does the marmalade clause say?", "Question 6?")
        assert "Question 4?" not in bench.text() and "Question 39?" not in bench.text()
        # The same hit is gone to again.
        await bench.press("escape", "G")
        await bench.shows("Question 39?")
        await bench.press("ctrl+f")
        await bench.type("marmalade")
        await bench.shows("«marmalade»")
        await bench.press("enter")
        await bench.shows("What does the marmalade clause say?", "Question 6?")
