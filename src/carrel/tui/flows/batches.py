"""Batch jobs: saving their answers."""

from pathlib import Path

from carrel.tui.dialogs.ask import Ask
from carrel.tui.place import Place


async def save(place: Place, job_id: str) -> None:
    """Saves a job's answers and its failures in a folder."""
    text = await place.ask(Ask("Save the answers in this folder", value=str(Path.cwd())))
    if text:
        place.do(place.store.batches.save(job_id, _folder(text)))


def _folder(text: str) -> Path:
    return Path(text).expanduser()
