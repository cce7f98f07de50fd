"""Tools: their names, arguments and functions."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from carrel.client import Client

A = TypeVar("A", bound="Arguments")

Result = str | dict[str, Any] | BaseModel
"""Text, or data that is sent as JSON."""


class ToolError(Exception):
    """A tool failed; the message gives the reason to the agent."""


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PageArguments(Arguments):
    """A page of a list."""

    page: Annotated[int, Field(ge=0, description="The page of the list, from 0.")] = 0


LibraryID = Annotated[str, Field(min_length=1, description="The id of a library.")]
DocumentID = Annotated[str, Field(min_length=1, description="The id of a document in it.")]


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool."""

    client: "Client"
    """A client with the rights of the caller."""
    step: Callable[[str], None]
    """Reports a step of the work to the caller."""
    folder: Path | None
    """The folder whose files may be read, or None if the caller has another disk."""

    def path(self, named: str) -> Path:
        """Return a file of the folder.

        Raises:
            ToolError: the file is outside of the folder, or there is none.
        """
        if self.folder is None:
            raise ToolError("This server reads no paths. Give a file id or an address.")
        path = (self.folder / named).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise ToolError(
                f"{named} is outside of {self.folder}, the folder whose files may be read."
            )
        return path


Work = Callable[[ToolCall, A], Coroutine[Any, Any, Result]]


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool as agents see it."""

    name: str
    title: str
    description: str
    arguments: type[A]
    run: Work[A]
    writes: bool = False
    destroys: bool = False
    result: type[BaseModel] | None = None
    """The model of its result, or None for text."""


class Tools(dict[str, Tool[Any]]):
    """Tools by name, in the order of offering."""

    def offer(
        self, title: str, description: str, *, writes: bool = False, destroys: bool = False
    ) -> Callable[[Work[A]], Work[A]]:
        """Register a function as the tool of its name.

        The type of its second parameter declares the arguments. That of its result is the output
        schema where it is a model.
        """

        def add(run: Work[A]) -> Work[A]:
            name, (_, arguments, returned) = run.__name__, run.__annotations__.values()
            result = returned if isinstance(returned, type) and returned is not str else None
            self[name] = Tool(name, title, description, arguments, run, writes, destroys, result)
            return run

        return add
