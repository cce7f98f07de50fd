"""A tool: its name, its arguments, and its work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from carrel.client import Client

A = TypeVar("A", bound="Arguments")

Result = str | dict[str, Any]
"""Text, or data that is sent as JSON."""


class ToolError(Exception):
    """A tool cannot do as it was asked; the message says why, in words for the agent."""


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
    """The service, with the rights of the caller."""
    step: Callable[[str], None]
    """Tells the caller of a step of the work."""
    folder: Path | None
    """The folder whose files may be read; None where the caller has another disk."""

    def path(self, named: str) -> Path:
        """Return a file of the folder.

        Raises:
            ToolError: it is outside of it, or there is no folder.
        """
        if self.folder is None:
            raise ToolError("This server reads no paths. Give a file id or an address.")
        path = (self.folder / named).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise ToolError(
                f"{named} is outside of {self.folder}, the folder whose files may be read."
            )
        return path


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool as agents see it."""

    name: str
    title: str
    description: str
    arguments: type[A]
    run: Callable[[ToolCall, A], Awaitable[Result]]
    writes: bool = False
    destroys: bool = False
    result: type[BaseModel] | None = None
    """What it answers; None for text."""
