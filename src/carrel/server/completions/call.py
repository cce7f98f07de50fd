"""A completion as asked for."""

from dataclasses import dataclass, field

from carrel.server.completions.messages import ReadDocument
from carrel.server.completions.responder import Responder
from carrel.server.records.accounts.caller import Caller
from carrel.wire.generation.completions import CompletionChunk, CompletionOptions, Progress
from carrel.wire.generation.formats import ResponseFormat
from carrel.wire.generation.tools import NamedToolChoice, Tool, ToolChoice

Batch = list[CompletionChunk | Progress]
"""Events that travel together."""


@dataclass(frozen=True)
class CompletionCall:
    """A request for a completion, with its responder and its caller.

    `read_document` returns the text of a document in the messages. `notes` takes what a caller
    is told of in a `Warning` header.
    """

    responder: Responder
    options: CompletionOptions
    caller: Caller
    read_document: ReadDocument
    notes: list[str] = field(default_factory=list)
    can_confirm: bool = False
    """Whether the caller can be asked before a tool is called."""

    @property
    def tools(self) -> list[Tool]:
        """The tools of the responder and of the request."""
        return [*self.responder.tools, *(self.options.tools or ())]

    @property
    def tool_choice(self) -> ToolChoice | NamedToolChoice:
        """The request's choice of tools, or the responder's."""
        return self.options.tool_choice or self.responder.arguments.tool_choice

    @property
    def format(self) -> ResponseFormat | None:
        """The request's format of the answer, or the responder's."""
        return self.options.response_format or self.responder.arguments.response_format
