"""`--record`: recording of an app session to a file."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from carrel.cli.errors import Code, CommandError
from carrel.cli.options import option
from carrel.cli.output import note

if TYPE_CHECKING:
    from carrel.config.settings import Settings
    from carrel.recording.recorder import Recorder

RecordOption = Annotated[
    Path | None,
    option(
        "FILE",
        "Record what the app shows to a new file (asciicast v2). Keys, ids and addresses "
        "are hidden. Play it with: carrel replay FILE",
        "--record",
    ),
]


@contextmanager
def recording(path: Path | None, title: str) -> "Iterator[Recorder | None]":
    """Yield a recorder to a new file, if one is wanted. Say at the end where the recording is.

    Raises:
        CommandError: there is a file already.
        OSError: it cannot be made.
    """
    if path is None:
        yield None
        return
    from carrel.recording.recorder import Recorder, failure_words

    try:
        recorder = Recorder(path, *shutil.get_terminal_size(), title)
    except FileExistsError:
        raise CommandError(f"{path} exists already: name a new file.", Code.USAGE) from None
    try:
        yield recorder
    finally:
        recorder.close()
        if recorder.failed is not None:
            note(f"carrel: {'. '.join(failure_words(recorder.failed))}")
        else:
            note(f"Recorded. Play it with: carrel replay {path}")


def settings_of_recording(settings: "Settings", recorder: "Recorder | None") -> "Settings":
    """Return the settings for a recorded session, with pictures as half-blocks for any player."""
    if recorder is None or settings.images == "off":
        return settings
    return replace(settings, images="halfblock")
