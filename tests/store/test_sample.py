"""The shipped sample against the real server and its model."""

from carrel import samples
from carrel.store.sample import AGENT, LIBRARY
from carrel.store.store import Store
from support.sample import sample_pdf
from support.slices import until


def test_the_shipped_document_is_the_one_that_is_made() -> None:
    assert samples.content() == sample_pdf()


async def test_it_is_read_searched_and_answered_from_and_makes_nothing_twice(store: Store) -> None:
    for _ in range(2):
        handle = store.sample.play()
        await handle
        assert handle.error is None
        state = store.sample.slice.value
        assert state.done
        assert [step.status for step in state.steps] == ["done"] * 4
        assert [step.result for step in state.steps[:3]] == [
            samples.NAME,
            "2 pages",
            f"ready in “{LIBRARY}”",
        ]
        assert state.answer is not None and state.answer.text
        source = state.answer.sources[0]
        assert (source.document_name, source.page) == (samples.NAME, 0)
        plain = source.snippet.replace("«", "").replace("»", "")
        assert "documents that an agent can search" in plain
    client = await store.session.client()
    assert len([a for a in await client.agents.list() if a.name == AGENT]) == 1
    libraries = (await client.libraries.list()).data
    assert [library.nb_documents for library in libraries if library.name == LIBRARY] == [1]
    assert (await client.files.list(search=samples.NAME)).total == 1


async def test_it_can_be_stopped(store: Store) -> None:
    handle = store.sample.play()
    store.sample.stop()
    await handle.settled()
    assert handle.outcome == "cancelled"
    assert not store.sample.slice.value.running


async def test_stopped_midway_it_keeps_what_is_done_and_plays_again(store: Store) -> None:
    handle = store.sample.play()
    await until(store.sample.slice, lambda state: state.steps[1].status == "done")
    store.sample.stop()
    await handle.settled()
    state = store.sample.slice.value
    assert handle.outcome == "cancelled"
    assert [step.status for step in state.steps[:2]] == ["done", "done"]
    assert not state.running and not any(step.status == "running" for step in state.steps)
    again = store.sample.play()
    await again
    assert again.error is None and store.sample.slice.value.done
