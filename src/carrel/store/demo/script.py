"""A demo's file: what it needs at the service, and its steps.

title: Leases
needs:
  libraries:
  - name: leases
    documents: [lease.pdf]
  agents:
  - name: clerk
    libraries: [leases]
steps:
- say: Here is the clerk.
  press: ["5"]
  wait: {text: New}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from carrel.store.agents.definitions import Definition
from carrel.wire.base import Name, Request, Text
from carrel.wire.tools import LibraryTool
from carrel.yamlfile import Document, FileError, check_in, read_file

LIMIT = 60.0
"""Seconds after which a wait fails where the step names no limit."""

MODIFIERS = ("ctrl", "alt", "shift")
NAMED = (
    "enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end", "up", "down",
    "left", "right", "pageup", "pagedown", "f1", "f2", "f3", "f4", "f5",
)  # fmt: skip
"""The keys with names; f6 to f12 are the presenter's."""

Pace = Literal["human", "at once", "each key"]


def _key(text: str) -> str:
    *modifiers, last = text.split("+") if text not in ("", "+") else [text]
    known = (len(last) == 1 and last.isprintable()) or last in NAMED
    if not known or any(one not in MODIFIERS for one in modifiers):
        raise ValueError(f"“{text}” is not a key. Keys are like n, ?, enter, ctrl+t, alt+1, f2")
    return "space" if text == " " else text


def _line(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("One line of text belongs here; press sends it: press: [enter]")
    return text


Key = Annotated[str, AfterValidator(_key)]
Line = Annotated[str, AfterValidator(_line)]


class OnScreen(Request):
    """A text to wait for, as it stands in one line of the screen; captions do not count."""

    text: Line


class Step(Request):
    """One step: what is said, typed and then pressed, and what is waited for at its end.

    `limit` is in seconds. `recorded` is an answer that can be shown if the step fails.
    """

    say: Text | None = None
    type: Line | None = None
    pace: Pace = "human"
    press: list[Key] = Field(default_factory=list)
    wait: Literal["answer finished", "document ready"] | OnScreen | None = None
    limit: Annotated[float, Field(gt=0, le=3600)] = LIMIT
    recorded: Text | None = None

    @model_validator(mode="after")
    def _whole(self) -> Step:
        if not (self.say or self.type or self.press or self.wait):
            raise ValueError("A step has one of say, type, press and wait")
        if self.wait is None and "limit" in self.model_fields_set:
            raise ValueError("A limit belongs to a wait")
        if self.type is None and "pace" in self.model_fields_set:
            raise ValueError("A pace belongs to a type")
        return self


class NeededLibrary(Request):
    """A library, and its documents: paths from the folder of the demo's file."""

    name: Name
    documents: list[Text] = Field(default_factory=list)


class Needs(Request):
    """What is made at the service before the first step, and removed at the end."""

    libraries: list[NeededLibrary] = Field(default_factory=list)
    agents: list[Definition] = Field(default_factory=list)


class Demo(Request):
    """A demo as its file has it."""

    title: Line
    needs: Needs = Field(default_factory=Needs)
    steps: Annotated[list[Step], Field(min_length=1)]


def load_demo(path: Path) -> Demo:
    """The demo of a file, once everything about it was checked that needs no service.

    Raises:
        FileError: the file, or one that it names, cannot be used.
    """
    documents = read_file(path)
    if len(documents) != 1:
        raise FileError(path, None, "One demo belongs in this file.")
    demo = check_in(path, documents[0], Demo)
    _check_needs(path, documents[0], demo.needs)
    return demo


def _check_needs(path: Path, document: Document, needs: Needs) -> None:
    def refuse(reason: str, *where: int | str) -> FileError:
        error = document.mistake(("needs", *where), reason)
        return FileError(path, error.line, error.reason)

    libraries: list[str] = []
    for number, library in enumerate(needs.libraries):
        if library.name in libraries:
            raise refuse("The name of another library here.", "libraries", number, "name")
        libraries.append(library.name)
        for at, name in enumerate(library.documents):
            if not (path.parent / name).is_file():
                reason = f"There is no file {path.parent / name}."
                raise refuse(reason, "libraries", number, "documents", at)
    agents: list[str] = []
    for number, agent in enumerate(needs.agents):
        if agent.name in agents:
            raise refuse("The name of another agent here.", "agents", number, "name")
        for field, wanted, known in (
            ("libraries", agent.libraries, libraries),
            ("handoffs", agent.handoffs, agents),
        ):
            for at, name in enumerate(wanted):
                if name not in known:
                    reason = f"“{name}” is none of the {field} above."
                    if field == "handoffs":
                        reason = f"“{name}” is none of the agents above this one."
                    raise refuse(reason, "agents", number, field, at)
        for at, tool in enumerate(agent.tools):
            for name in tool.library_ids if isinstance(tool, LibraryTool) else ():
                if name not in libraries:
                    reason = f"“{name}” is none of the libraries above."
                    raise refuse(reason, "agents", number, "tools", at, "library_ids")
        agents.append(agent.name)
