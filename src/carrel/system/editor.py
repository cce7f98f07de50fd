"""The user's editor: `VISUAL`, else `EDITOR`, else a common one."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

COMMON = ("nano", "vim", "vi", "notepad")


class EditorError(Exception):
    """No editor could be run; the message says what to do."""


def configured_command(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the words of the configured command, or an empty list.

    Raises:
        EditorError: the setting is not a command.
    """
    named = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        return shlex.split(named)
    except ValueError:
        raise EditorError(f"EDITOR names no command: {named} lacks a quotation mark.") from None


def editor_command(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the words of the editor's command, to which the file's path is appended.

    Raises:
        EditorError: there is no editor, or the configured one is not a command.
    """
    if words := configured_command(environ):
        return words
    for name in COMMON:
        if found := shutil.which(name):
            return [found]
    raise EditorError("There is no editor. Name yours in EDITOR, such as EDITOR=nano.")


def edit(path: Path) -> str:
    """Open a file in the editor, wait for its end, and return the file's text.

    Raises:
        EditorError: there is no editor, or it failed.
    """
    command = editor_command()
    try:
        code = subprocess.run([*command, str(path)], check=False).returncode
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise EditorError(f"{command[0]} could not be run: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EditorError(f"{path} is no longer UTF-8 text.") from error
    if code:
        raise EditorError(f"{command[0]} ended with the code {code}, so nothing was taken.")
    return text
