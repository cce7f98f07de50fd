"""An answer in the Responses shape: whole, or as the events of a stream."""

import time
import uuid
from collections.abc import Iterator
from typing import Any, Literal

from carrel.wire.completions import Completion, CompletionChunk, Usage
from carrel.wire.responses import (
    Incomplete,
    ModelResponse,
    OutputCall,
    OutputMessage,
    OutputText,
    ResponseError,
    ResponseEvent,
    ResponseRequest,
    ResponseUsage,
)
from carrel.wire.tools import ToolCall

Status = Literal["in_progress", "completed", "incomplete", "failed"]

_FAILED = ResponseError(
    code="server_error", message="The model failed while it answered. Ask again."
)


class Response:
    """One answer as far as it has come."""

    def __init__(self, request: ResponseRequest) -> None:
        self._request = request
        self._id = f"resp_{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._sequence = -1
        self._message_id = f"msg_{uuid.uuid4().hex}"
        self._texts: list[str] = []
        self._begun = self._closed = False
        """Whether there is a message, which comes first, and whether it is whole."""
        self._calls: list[OutputCall] = []
        self._usage: Usage | None = None
        self._reason: str | None = None

    def whole(self, completion: Completion) -> ModelResponse:
        """The answer of a completion."""
        [choice] = completion.choices
        self._usage, self._reason = completion.usage, choice.finish_reason
        text = choice.message.content
        self._texts = [str(text or "")]
        self._begun = bool(text) or not choice.message.tool_calls
        self._calls = [_call(call) for call in choice.message.tool_calls or ()]
        return self._ended()

    def begin(self) -> Iterator[ResponseEvent]:
        """The first events of a stream."""
        for name in ("created", "in_progress"):
            yield self._event(f"response.{name}", response=self._as("in_progress"))

    def take(self, chunk: CompletionChunk) -> Iterator[ResponseEvent]:
        """The events of a chunk."""
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices:
            self._reason = choice.finish_reason or self._reason
            if choice.delta.content:
                yield from self._text(str(choice.delta.content))
            for call in choice.delta.tool_calls or ():
                yield from self._called(_call(call))

    def end(self) -> Iterator[ResponseEvent]:
        """The last events of a stream."""
        if not self._begun and not self._calls:
            yield from self._open_message()
        if self._begun and not self._closed:
            yield from self._close_message()
        ended = self._ended()
        yield self._event(f"response.{ended.status}", response=ended)

    def _text(self, text: str) -> Iterator[ResponseEvent]:
        if not self._begun:
            yield from self._open_message()
        self._texts.append(text)
        yield self._part_event("response.output_text.delta", delta=text, logprobs=[])

    def _open_message(self) -> Iterator[ResponseEvent]:
        self._begun = True
        opened = OutputMessage(id=self._message_id, status="in_progress", content=[])
        yield self._event("response.output_item.added", output_index=0, item=opened)
        yield self._part_event("response.content_part.added", part=OutputText(text=""))

    def _close_message(self) -> Iterator[ResponseEvent]:
        self._closed = True
        message = self._message()
        [part] = message.content
        yield self._part_event("response.output_text.done", text=part.text, logprobs=[])
        yield self._part_event("response.content_part.done", part=part)
        yield self._event("response.output_item.done", output_index=0, item=message)

    def _message(self) -> OutputMessage:
        content = [OutputText(text="".join(self._texts))]
        return OutputMessage(id=self._message_id, status="completed", content=content)

    def _called(self, call: OutputCall) -> Iterator[ResponseEvent]:
        if self._begun and not self._closed:
            yield from self._close_message()
        index = self._begun + len(self._calls)
        self._calls.append(call)
        opened = call.model_copy(update={"arguments": "", "status": "in_progress"})
        yield self._event("response.output_item.added", output_index=index, item=opened)
        place: dict[str, Any] = {"item_id": call.id, "output_index": index}
        arguments = "response.function_call_arguments"
        yield self._event(f"{arguments}.delta", **place, delta=call.arguments)
        yield self._event(f"{arguments}.done", **place, arguments=call.arguments, name=call.name)
        yield self._event("response.output_item.done", output_index=index, item=call)

    def _part_event(self, type: str, **fields: Any) -> ResponseEvent:
        place = {"item_id": self._message_id, "output_index": 0, "content_index": 0}
        return self._event(type, **place, **fields)

    def _event(self, type: str, **fields: Any) -> ResponseEvent:
        self._sequence += 1
        return ResponseEvent.model_validate(
            {"type": type, "sequence_number": self._sequence, **fields}
        )

    def _ended(self) -> ModelResponse:
        if self._reason == "error":
            return self._as("failed", error=_FAILED)
        if self._reason in ("length", "model_length"):
            return self._as("incomplete", incomplete_details=Incomplete(reason="max_output_tokens"))
        return self._as("completed")

    def _as(self, status: Status, **more: Any) -> ModelResponse:
        asked, used = self._request, self._usage
        body = asked.model_dump(mode="json", by_alias=True, exclude_none=True)
        return ModelResponse(
            id=self._id,
            created_at=self._created,
            status=status,
            instructions=asked.instructions,
            max_output_tokens=asked.max_output_tokens,
            metadata=asked.metadata,
            model=asked.model,
            output=[*([self._message()] if self._begun else ()), *self._calls],
            parallel_tool_calls=asked.parallel_tool_calls,
            temperature=asked.temperature,
            text=body["text"],
            tool_choice=body["tool_choice"],
            tools=body["tools"],
            top_p=asked.top_p,
            usage=None
            if used is None
            else ResponseUsage(
                input_tokens=used.prompt_tokens,
                output_tokens=used.completion_tokens,
                total_tokens=used.total_tokens,
            ),
            **more,
        )


def _call(call: ToolCall) -> OutputCall:
    return OutputCall(
        id=f"fc_{uuid.uuid4().hex}",
        call_id=call.id,
        name=call.function.name,
        arguments=call.function.arguments,
        status="completed",
    )
