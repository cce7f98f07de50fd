"""The services together, with the real model."""

from pathlib import Path

from carrel.store.libraries.phase import document_phase
from carrel.store.store import Store
from carrel.wire.generation.agents import AgentCreate, CompletionArgs
from carrel.wire.generation.tools import LibraryTool
from support.documents import digital_pdf
from support.slices import until

TEXT = "The notice period is three months to the end of a quarter."


async def test_an_agent_answers_from_its_library_and_can_be_stopped(
    store: Store, tmp_path: Path
) -> None:
    library = await store.libraries.create("contracts")
    assert library is not None
    await store.libraries.upload(library.id, digital_pdf(tmp_path / "lease.pdf", 1, TEXT))
    await until(
        store.libraries.slice,
        lambda state: [document_phase(each) for each in state.documents] == ["ready"],
        60,
    )
    agent = await store.agents.create(
        AgentCreate(
            model="smollm2",
            name="support",
            instructions="Answer in one sentence.",
            tools=[LibraryTool(type="document_library", library_ids=[library.id])],
            completion_args=CompletionArgs(max_tokens=40, random_seed=1),
        )
    )
    assert agent is not None
    await store.chat.new(agent.id)
    handle = store.chat.send("How long is the notice period?")
    await handle
    assert handle.error is None
    turn = store.chat.slice.value.turns[-1]
    assert (turn.status, turn.version) == ("done", 0) and turn.text
    assert [source.document_name for source in turn.sources] == ["lease.pdf"]
    assert turn.completion_tokens is not None and 0 < turn.completion_tokens <= 40
    assert store.chat.slice.value.context_length is not None

    handle = store.chat.send("Tell me everything about it.")
    await until(store.chat.slice, lambda state: state.phase == "writing", 60)
    await store.chat.stop()
    await handle.settled()
    turn = store.chat.slice.value.turns[-1]
    assert turn.status in ("stopped", "done") and turn.text
