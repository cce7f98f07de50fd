"""A completion as asked for."""

from dataclasses import dataclass

from carrel.server.completions.messages import ReadDocument
from carrel.server.completions.responder import Responder
from carrel.server.records.caller import Caller
from carrel.wire.completions import CompletionOptions


@dataclass(frozen=True)
class CompletionCall:
    """A request for a completion, with its responder and its caller.

    `read_document` returns the text of a document in the messages.
    """

    responder: Responder
    options: CompletionOptions
    caller: Caller
    read_document: ReadDocument
