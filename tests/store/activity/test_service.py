import asyncio

from carrel.config.profiles import Profile
from carrel.store.activity.service import KEPT, ActivityService
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.journal.journal import Journal

LOCAL_PROFILE = Profile("test")


async def test_an_item_ends_as_its_action_ends() -> None:
    loop = OwnerLoop.running()
    activity = ActivityService(loop, Journal(LOCAL_PROFILE))
    entry = activity.begin("upload", "a.pdf")
    (item,) = activity.slice.value.items
    assert (item.status, item.started, item.name) == ("queued", None, "a.pdf")

    async def work() -> None:
        entry.progress(0, 100)
        await asyncio.sleep(0.01)
        entry.progress(60, 100)

    await entry.follow(loop.run(work()))
    (item,) = activity.slice.value.items
    assert (item.status, item.done, item.total) == ("done", 60, 100)
    assert item.started is not None and item.finished is not None
    assert item.finished - item.started >= 0.01
    assert item.rate is not None and 0 < item.rate <= 60 / 0.01


async def test_the_rate_counts_only_what_was_done_since_it_started() -> None:
    activity = ActivityService(OwnerLoop.running(), Journal(LOCAL_PROFILE))
    entry = activity.begin("ocr", "a.pdf", unit="pages")
    entry.progress(100, 102)
    await asyncio.sleep(0.02)
    assert activity.slice.value.items[0].rate is None
    entry.progress(101, 102)
    rate = activity.slice.value.items[0].rate
    assert rate is not None and 0 < rate <= 1 / 0.02


async def test_a_failure_stays_with_its_reason_until_it_is_dismissed() -> None:
    loop = OwnerLoop.running()
    activity = ActivityService(loop, Journal(LOCAL_PROFILE))
    problem = Problem("Too large", "The limit is 512 MB.")

    async def fail() -> None:
        raise ProblemError(problem)

    entry = activity.begin("upload", "a.pdf")
    await entry.follow(loop.run(fail())).settled()
    for _ in range(KEPT + 5):
        await activity.begin("download", "b.pdf").follow(loop.run(asyncio.sleep(0)))
    activity.begin("download", "c.pdf")
    statuses = [item.status for item in activity.slice.value.items]
    assert statuses == ["queued", *["done"] * (KEPT - 1), "failed"]
    assert activity.slice.value.items[-1].error == problem
    activity.dismiss(entry.id)
    assert activity.find(entry.id) is None


async def test_only_so_many_failures_stay() -> None:
    loop = OwnerLoop.running()
    activity = ActivityService(loop, Journal(LOCAL_PROFILE))

    async def fail() -> None:
        raise ProblemError(Problem("No", ""))

    entries = [activity.begin("upload", f"{number}") for number in range(KEPT + 3)]
    for entry in entries:
        await entry.follow(loop.run(fail())).settled()
    last = activity.begin("upload", "last")
    items = activity.slice.value.items
    assert [item.id for item in items] == [last.id, *(it.id for it in reversed(entries[3:]))]


async def test_cancelling_an_item_cancels_its_action() -> None:
    loop = OwnerLoop.running()
    activity = ActivityService(loop, Journal(LOCAL_PROFILE))
    entry = activity.begin("ocr", "a.pdf", unit="pages", total=3)
    handle = entry.follow(loop.run(asyncio.sleep(60)))
    activity.dismiss(entry.id)
    assert activity.find(entry.id) is not None, "what runs is not dismissed"
    activity.cancel(entry.id)
    await handle.settled()
    assert [item.status for item in activity.slice.value.items] == ["cancelled"]


async def test_items_begun_on_other_threads_are_all_there() -> None:
    activity = ActivityService(OwnerLoop.running(), Journal(LOCAL_PROFILE))
    await asyncio.gather(
        *(asyncio.to_thread(activity.begin, "upload", f"{number}.pdf") for number in range(20))
    )
    await asyncio.sleep(0)
    names = {item.name for item in activity.slice.value.items}
    assert names == {f"{number}.pdf" for number in range(20)}
    assert len({item.id for item in activity.slice.value.items}) == 20
