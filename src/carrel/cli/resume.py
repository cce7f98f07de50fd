"""`carrel resume`: resumes the interrupted work of earlier runs."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from carrel.cli import output
from carrel.cli.errors import Code
from carrel.cli.options import ProfileOption, flag
from carrel.cli.session import check_writable, connect
from carrel.config.profiles import Profile, load_profile

if TYPE_CHECKING:
    from carrel.store.store import Store


def resume(
    drop: Annotated[bool, flag("--drop", "Forget it; what was sent stays.")] = False,
    profile: ProfileOption = None,
) -> None:
    """Resume what earlier runs left: uploads, downloads, OCR, syncs.

    Work of the commands, the app and notebooks is noted on disk before it begins. What is at the
    service already is not sent again.
    """
    chosen = load_profile(profile)
    if not drop:
        check_writable(chosen)
    if asyncio.run(_resume(chosen, drop)):
        raise typer.Exit(Code.FAILED)


async def _resume(profile: Profile, drop: bool) -> bool:
    """Resume or drop the interrupted work; return whether something failed."""
    from carrel.store.core.actions.loop import OwnerLoop
    from carrel.store.store import Store

    if not drop:
        async with connect(profile) as client:
            await client.files.list(page_size=1)
    store = Store(profile, OwnerLoop.running())
    await store.start()
    try:
        for words in store.unfinished.left:
            output.note(f"{output.one_line(words)}.")
        if drop:
            store.unfinished.drop()
            return False
        if not store.unfinished.resumable:
            output.note(
                "Nothing of earlier runs can be resumed."
                if store.unfinished.left
                else "Nothing is left of earlier runs."
            )
            return False
        known = {item.id for item in store.activity.slice.value.items}
        store.unfinished.resume(watch=False)
        await store.unfinished.idle()
        return _report(store, known)
    finally:
        await store.close()


def _report(store: "Store", known: set[str]) -> bool:
    """Print the outcome of each piece of work; return whether one failed."""
    items = [item for item in store.activity.slice.value.items if item.id not in known]
    failed = [item for item in items if item.error is not None]
    for item in failed:
        output.note(f"{output.one_line(item.name)}: {item.error}")
    done = sum(item.status == "done" for item in items)
    output.note(f"{done} of {len(items)} done.")
    return bool(failed)
