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
  show: {chat: clerk}
- ask: How long is the notice period?
  wait: answer finished
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from carrel.store.agents.definitions import Definition
from carrel.wire.base import Name, Request, Text
from carrel.wire.generation.tools import LibraryTool
from carrel.yamlfile import Document, FileError, check_in, read_file

LIMIT = 60.0
"""Default time limit of a wait in seconds."""

MODIFIERS = ("ctrl", "alt", "shift")
NAMED = (
    "enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end", "up", "down",
    "left", "right", "pageup", "pagedown", "f1", "f2", "f3", "f4", "f5",
)  # fmt: skip
"""Named keys; f6 to f12 are reserved for the presenter."""

MODEL = "{model}"
"""Placeholder in a caption for the answering model and its host."""

WORDS = 56
"""Number of characters of a step's text in the list of steps."""

Pace = Literal["human", "at once", "each key"]
Wait = Literal["answer finished", "document ready", "passages found"]
Number = Annotated[int, Field(ge=1)]


def _key(text: str) -> str:
    *modifiers, last = text.split("+") if text not in ("", "+") else [text]
    known = (len(last) == 1 and last.isprintable()) or last in NAMED
    if not known or any(modifier not in MODIFIERS for modifier in modifiers):
        raise ValueError(f"“{text}” is not a key. Keys are like n, ?, enter, ctrl+t, alt+1, f2")
    return "space" if text == " " else text


def _line(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("One line of text belongs here; press sends it: press: [enter]")
    return text


Key = Annotated[str, AfterValidator(_key)]
Line = Annotated[str, AfterValidator(_line)]


class OnScreen(Request):
    """A text to wait for within one line of the screen; captions are ignored."""

    text: Line


class Show(Request):
    """An item to show, by name or by number from 1.

    `hit` is a passage found by the search, `source` a passage below the last answer; both open
    their page. `page` is a page of the open document. `chat` begins a chat with an agent.
    """

    library: Name | None = None
    agent: Name | None = None
    chat: Name | None = None
    hit: Number | None = None
    source: Number | None = None
    page: Number | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Show:
        if len(self.model_fields_set) != 1:
            raise ValueError("One of library, agent, chat, hit, source and page belongs here")
        return self


class Step(Request):
    """One step: its caption, its action, and its end condition.

    `show`, `search` and `ask` work in every face; `type` and then `press` are keys for the
    terminal. `limit` is in seconds. `recorded` is an answer to show if the step fails.
    """

    say: Text | None = None
    show: Show | None = None
    search: Line | None = None
    ask: Line | None = None
    type: Line | None = None
    pace: Pace = "human"
    press: list[Key] = Field(default_factory=list)
    wait: Wait | OnScreen | None = None
    limit: Annotated[float, Field(gt=0, le=3600)] = LIMIT
    recorded: Text | None = None

    @model_validator(mode="after")
    def _check_step(self) -> Step:
        does = [bool(one) for one in (self.show, self.search, self.ask, self.presses_keys)]
        if not (self.say or self.wait or any(does)):
            raise ValueError("A step has one of say, show, search, ask, type, press and wait")
        if sum(does) > 1:
            raise ValueError(
                "A step has one of show, search, ask and keys; the next is another step"
            )
        if self.wait is None and "limit" in self.model_fields_set:
            raise ValueError("A limit belongs to a wait")
        if not (self.search or self.ask or self.type) and "pace" in self.model_fields_set:
            raise ValueError("A pace belongs to a search, an ask or a type")
        return self

    @property
    def presses_keys(self) -> bool:
        """Whether the step presses keys, which only the terminal can."""
        return bool(self.type or self.press)

    @property
    def summary(self) -> str:
        """The step's text in a list of steps."""
        shown = "".join(f"{kind} {item}" for kind, item in self.show or () if item is not None)
        words = self.say or self.ask or self.search or self.type or " ".join(self.press) or shown
        words = " ".join(str(words or "wait").split())
        return words if len(words) <= WORDS else words[: WORDS - 1] + "…"


class NeededLibrary(Request):
    """A library and its documents, as paths relative to the demo's file."""

    name: Name
    documents: list[Text] = Field(default_factory=list)


class Needs(Request):
    """Resources to create at the demo's server before the first step."""

    libraries: list[NeededLibrary] = Field(default_factory=list)
    agents: list[Definition] = Field(default_factory=list)


class Demo(Request):
    """A demo as defined by its file."""

    title: Line
    needs: Needs = Field(default_factory=Needs)
    steps: Annotated[list[Step], Field(min_length=1)]

    def with_model(self, model: str) -> Demo:
        """Return the demo with the description of its model in the captions."""
        steps = [
            step.model_copy(update={"say": step.say.replace(MODEL, model)}) if step.say else step
            for step in self.steps
        ]
        return self.model_copy(update={"steps": steps})


def load_demo(path: Path) -> Demo:
    """Load a demo and check everything that needs no service.

    Raises:
        FileError: the file, or a file that it names, cannot be used.
    """
    documents = read_file(path)
    if len(documents) != 1:
        raise FileError(path, None, "One demo belongs in this file.")
    demo = check_in(path, documents[0], Demo)
    _check_needs(path, documents[0], demo.needs)
    _check_shown(path, documents[0], demo)
    return demo


def _check_shown(path: Path, document: Document, demo: Demo) -> None:
    libraries = [library.name for library in demo.needs.libraries]
    agents = [agent.name for agent in demo.needs.agents]
    for number, step in enumerate(demo.steps):
        for field, known in (("library", libraries), ("agent", agents), ("chat", agents)):
            name = getattr(step.show, field, None)
            if name is not None and name not in known:
                kind = "libraries" if field == "library" else "agents"
                reason = f"“{name}” is not one of the {kind} above."
                error = document.mistake(("steps", number, "show", field), reason)
                raise FileError(path, error.line, error.reason)


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
                    reason = f"“{name}” is not one of the {field} above."
                    if field == "handoffs":
                        reason = f"“{name}” is not one of the agents above this one."
                    raise refuse(reason, "agents", number, field, at)
        for at, tool in enumerate(agent.tools):
            for name in tool.library_ids if isinstance(tool, LibraryTool) else ():
                if name not in libraries:
                    reason = f"“{name}” is not one of the libraries above."
                    raise refuse(reason, "agents", number, "tools", at, "library_ids")
        agents.append(agent.name)
