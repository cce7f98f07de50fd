"""Work in progress: resuming, cancelling, and saving answers of batch jobs."""

from collections.abc import Sequence
from pathlib import Path

from carrel.store.activity.formatting import running_words
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, Choose, Option
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.theme import labels


async def cancel(place: MainScreen, items: Sequence[ActivityItem]) -> None:
    """Cancel items; ask first about several, and about a job at the service."""
    wanted = [item for item in items if not item.ended]
    jobs = any(item.kind == "batch" and item.is_under_way for item in wanted)
    if len(wanted) > 1 or jobs:
        title = f"Cancel {running_words(ActivityState(tuple(wanted)))}?"
        names = labels.names(item.name for item in wanted)
        if not await place.ask(Confirm(title, names, "Cancel them" if len(wanted) > 1 else "Stop")):
            return
    place.store.activity.cancel(*(item.id for item in wanted))


async def save(place: MainScreen, job_id: str) -> None:
    """Save a job's answers and errors to a folder."""
    text = await place.ask(Ask("Save the answers in this folder", value=str(Path.cwd())))
    if text:
        place.do(place.store.batches.save(job_id, _folder(text)))


def _folder(text: str) -> Path:
    return Path(text).expanduser()


async def offer_left(place: MainScreen) -> None:
    """Offer to resume or drop the interrupted work of an earlier start."""
    unfinished = place.store.unfinished
    if not (left := unfinished.left):
        return
    resume = Option("resume", "Resume", "nothing is sent twice", key="r")
    options = [
        *([resume] if unfinished.resumable else []),
        Option("later", "Later", "Activity keeps it", key="l"),
        Option("drop", "Drop", "what was sent stays", key="x"),
    ]
    about = [labels.line(words) for words in left[1:]]
    answer = await place.ask(Choose(left[0], options, about))
    if answer == "resume":
        unfinished.resume()
    elif answer == "drop":
        if await place.ask(Confirm("Drop it?", [labels.line(words) for words in left], "Drop")):
            unfinished.drop()
    else:
        place.notice("In Activity, r resumes what is left and x drops it.")


async def may_leave(place: MainScreen, verb: str = "quit") -> bool:
    """Ask before quitting, or leaving for another service, while something runs; return whether
    to do it now."""
    unfinished = place.store.unfinished
    if not (running := unfinished.running_words):
        return True
    later = f"{verb.capitalize()} and resume later"
    options = [
        Option("wait", "Wait", f"{verb}s as soon as it is done", key="w"),
        Option("later", later, "the next start offers it", key="q"),
        Option("cancel", f"Cancel it and {verb}", "what was sent stays", key="x"),
    ]
    about = [labels.line(words) for words in running]
    answer = await place.ask(Choose("Something still runs", options, about))
    if answer == "wait":
        when = f"{verb.capitalize()}s once that is done."
        place.notice(f"{when} ctrl+q quits now, and the next start resumes it.")
        await unfinished.idle()
    elif answer == "cancel":
        unfinished.cancel()
        await unfinished.idle()
    return answer is not None
