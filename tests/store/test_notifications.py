import asyncio

from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.notifications import KEPT, NotificationsService


async def test_lines_come_from_any_thread_and_are_one_line_each() -> None:
    service = NotificationsService(OwnerLoop.running())
    await asyncio.to_thread(service.notify, "Uploaded invoice [/final]\nsecond.pdf.")
    await asyncio.sleep(0)
    service.notify("No space left.", "error")
    first, second = service.slice.value.items
    assert (first.text, first.level) == ("Uploaded invoice [/final] second.pdf.", "info")
    assert (second.text, second.level) == ("No space left.", "error")
    assert first.id != second.id and first.at <= second.at


async def test_only_the_last_lines_stay() -> None:
    service = NotificationsService(OwnerLoop.running())
    for number in range(KEPT + 3):
        service.notify(str(number))
    assert [line.text for line in service.slice.value.items] == [
        str(number) for number in range(3, KEPT + 3)
    ]
