import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch


@dataclass(frozen=True, slots=True)
class Count:
    number: int = 0
    name: str = ""


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nothing tells of what a watcher has seen
            await asyncio.sleep(0.005)


async def test_the_value_that_is_there_comes_first() -> None:
    seen: list[Count] = []
    close = watch(Slice(Count(7)), seen.append)
    close()
    assert seen == [Count(7)]


async def test_a_burst_is_delivered_at_its_beginning_and_its_end() -> None:
    slice, seen = Slice(Count()), list[int]()
    close = watch(slice, lambda value: seen.append(value.number), hz=20)
    seen.clear()
    for number in range(1, 500):
        slice.set(number=number)
    assert seen == [1]
    await until(lambda: len(seen) == 2)
    close()
    assert seen == [1, 499]


async def test_a_steady_stream_keeps_to_the_rate_and_ends_with_the_last_value() -> None:
    slice, seen = Slice(Count()), list[int]()
    close = watch(slice, lambda value: seen.append(value.number), hz=50)
    began = time.monotonic()
    for number in range(1, 401):
        slice.set(number=number)
        if number % 4 == 0:
            await asyncio.sleep(0.001)
    elapsed = time.monotonic() - began
    await until(lambda: seen[-1] == 400)
    close()
    assert seen == sorted(set(seen))
    assert len(seen) <= elapsed * 50 + 3


async def test_after_a_quiet_time_a_change_is_delivered_at_once() -> None:
    slice, seen = Slice(Count()), list[int]()
    close = watch(slice, lambda value: seen.append(value.number), hz=100)
    slice.set(number=1)
    await asyncio.sleep(0.05)
    slice.set(number=2)
    close()
    assert seen == [0, 1, 2]


async def test_select_keeps_other_changes_out() -> None:
    slice, seen = Slice(Count()), list[str]()
    close = watch(slice, seen.append, select=lambda value: value.name, hz=1000)
    for number in range(3):
        slice.set(number=number)
        await asyncio.sleep(0.005)
    slice.set(name="ada")
    await until(lambda: len(seen) == 2)
    close()
    assert seen == ["", "ada"]


async def test_after_closing_nothing_comes_any_more() -> None:
    slice, seen = Slice(Count()), list[int]()
    close = watch(slice, lambda value: seen.append(value.number), hz=20)
    slice.set(number=1)
    slice.set(number=2)  # waits for its turn
    close()
    slice.set(number=3)
    await asyncio.sleep(0.1)
    assert seen == [0, 1]


async def test_it_lives_as_long_as_the_slice_even_when_nobody_keeps_the_closer() -> None:
    import gc

    slice, seen = Slice(Count()), list[int]()
    watch(slice, lambda value: seen.append(value.number))
    gc.collect()
    slice.set(number=1)
    assert seen == [0, 1]


async def test_a_watcher_that_fails_is_logged_and_hears_of_the_next_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slice, seen = Slice(Count()), list[int]()

    def fail_at_first(value: Count) -> None:
        seen.append(value.number)
        if value.number == 1:
            raise RuntimeError("broken watcher")

    close = watch(slice, fail_at_first, hz=1000)
    slice.set(number=1)
    await asyncio.sleep(0.005)
    slice.set(number=2)
    await until(lambda: len(seen) == 3)
    close()
    assert seen == [0, 1, 2]
    assert "a watch of Count failed" in caplog.text


async def test_a_face_on_another_loop_gets_the_last_value_on_its_own_thread() -> None:
    portal = OwnerLoop.in_thread()
    slice, seen = Slice(Count()), list[tuple[int, str]]()
    here = asyncio.get_running_loop()
    close = watch(
        slice,
        lambda value: seen.append((value.number, threading.current_thread().name)),
        deliver=here.call_soon_threadsafe,
        hz=100,
    )

    async def count() -> None:
        for number in range(1, 2001):
            slice.set(number=number)
            if number % 100 == 0:
                await asyncio.sleep(0.001)

    try:
        await portal.run(count())
        await until(lambda: bool(seen) and seen[-1][0] == 2000)
    finally:
        close()
        await asyncio.to_thread(portal.close)
    numbers = [number for number, _ in seen]
    assert numbers == sorted(set(numbers))
    assert {name for _, name in seen} == {threading.current_thread().name}


async def test_a_slow_face_has_one_delivery_waiting_and_no_more() -> None:
    slice, seen, waiting = Slice(Count()), list[int](), list[Callable[[], None]]()
    close = watch(slice, lambda value: seen.append(value.number), deliver=waiting.append, hz=1000)
    for number in range(1, 50):
        slice.set(number=number)
        await asyncio.sleep(0.002)
    assert len(waiting) == 1
    waiting.pop()()
    close()
    assert seen == [49]
