"""An answer in the Responses shape: whole, or as the events of a stream."""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any, Literal

from carrel.server.completions.call import Batch
from carrel.wire.generation.completions import Delta, Passage, Progress, Usage
from carrel.wire.generation.content import as_chunks
from carrel.wire.generation.responses import (
    ConversationId,
    Incomplete,
    MCPServer,
    ModelResponse,
    OutputCall,
    OutputItem,
    OutputMCPCall,
    OutputMessage,
    OutputReasoning,
    OutputText,
    OutputWebSearch,
    ReasoningText,
    ResponseError,
    ResponseEvent,
    ResponseRequest,
    ResponseUsage,
    SearchAction,
)
from carrel.wire.generation.tools import ToolCall

_ECHOED = ModelResponse.model_fields.keys() & ResponseRequest.model_fields.keys() - {"conversation"}
"""Fields of the request that the answer has, too."""

Status = Literal["queued", "in_progress", "completed", "incomplete", "failed"]


class Response:
    """One answer while it grows: its items, of which the last may be open."""

    def __init__(self, request: ResponseRequest, id: str) -> None:
        self._request = request
        self._id = id
        self._created = int(time.time())
        self._sequence = -1
        self._items: list[OutputItem] = []
        self._is_open = False
        self._sources: dict[int | str, Passage] = {}
        self._usage: Usage | None = None
        self._reason: str | None = None
        self._problem: str | None = None

    def as_queued(self) -> ModelResponse:
        """Return the answer before it is begun."""
        return self._with_status("queued")

    def begin(self) -> Iterator[ResponseEvent]:
        """Yield the first events of a stream."""
        for name in ("created", "in_progress"):
            yield self._event(f"response.{name}", response=self._with_status("in_progress"))

    def take(self, batch: Batch) -> Iterator[ResponseEvent]:
        """Yield the events of a batch of chunks and steps."""
        for chunk in batch:
            if isinstance(chunk, Progress):
                yield from self._step(chunk)
                continue
            self._usage = chunk.usage or self._usage
            for choice in chunk.choices:
                self._reason = choice.finish_reason or self._reason
                yield from self._take(choice.delta)

    def fail(self, message: str) -> Iterator[ResponseEvent]:
        """Yield the last event of a stream that breaks off."""
        self._problem = message
        yield self._event("response.failed", response=self.as_ended())

    def end(self) -> Iterator[ResponseEvent]:
        """Yield the last events of a stream."""
        if not any(isinstance(item, OutputMessage | OutputCall) for item in self._items):
            yield from self._open_message()
        yield from self._close()
        ended = self.as_ended()
        yield self._event(f"response.{ended.status}", response=ended)

    def _take(self, said: Delta) -> Iterator[ResponseEvent]:
        self._sources |= {source.index: source for source in said.sources or ()}
        if said.reasoning_content:
            yield from self._think(said.reasoning_content)
        for chunk in as_chunks(said.content or ""):
            if chunk["type"] == "reference":
                for number in chunk["reference_ids"]:
                    yield from self._cite(number)
            elif chunk["type"] == "text":
                yield from self._text(chunk["text"])
        for call in said.tool_calls or ():
            yield from self._report_call(_call(call))

    def _think(self, text: str) -> Iterator[ResponseEvent]:
        last = self._items[-1] if self._is_open else None
        if not isinstance(last, OutputReasoning):
            yield from self._open(OutputReasoning(id=f"rs_{uuid.uuid4().hex}"))
            last = OutputReasoning(id=self._items[-1].id, content=[ReasoningText(text="")])
        [part] = last.content
        grown = ReasoningText(text=part.text + text)
        self._items[-1] = last.model_copy(update={"content": [grown]})
        yield self._part_event("response.reasoning_text.delta", delta=text)

    def _text(self, text: str) -> Iterator[ResponseEvent]:
        yield from self._open_message()
        part = self._part()
        self._change(part.model_copy(update={"text": part.text + text}))
        yield self._part_event("response.output_text.delta", delta=text, logprobs=[])

    def _cite(self, number: int | str) -> Iterator[ResponseEvent]:
        source = self._sources.get(number)
        if source is None:
            return
        yield from self._open_message()
        part = self._part()
        annotation = {
            "type": "file_citation",
            "index": len(part.text),
            "file_id": source.document_id,
            "filename": source.document_name,
        }
        self._change(part.model_copy(update={"annotations": [*part.annotations, annotation]}))
        yield self._part_event(
            "response.output_text.annotation.added",
            annotation_index=len(part.annotations),
            annotation=annotation,
        )

    def _step(self, step: Progress) -> Iterator[ResponseEvent]:
        """Yield the events of a connector's tool that begins or ends."""
        if step.tool is None:
            return
        if step.stage == "calling":
            yield from self._open(self._own_call(step.tool, step.arguments or "{}"))
            return
        item = self._items[-1]
        done: dict[str, Any] = {"status": "completed"}
        if isinstance(item, OutputMCPCall):
            done["output"] = step.result
        self._items[-1] = item.model_copy(update=done)
        kind = "mcp_call" if isinstance(item, OutputMCPCall) else "web_search_call"
        yield self._item_event(f"response.{kind}.completed", item_id=item.id)
        yield from self._close()

    def _own_call(self, name: str, arguments: str) -> OutputMCPCall | OutputWebSearch:
        """Return the item of a call that the server runs."""
        id = uuid.uuid4().hex
        labels = [tool.server_label for tool in self._request.tools if isinstance(tool, MCPServer)]
        # The function of a connector's tool begins with the connector's name.
        fitting = [label for label in labels if name.startswith(f"{label}_")]
        if fitting:
            label = max(fitting, key=len)
            tool = name.removeprefix(f"{label}_")
            return OutputMCPCall(id=f"mcp_{id}", server_label=label, name=tool, arguments=arguments)
        return OutputWebSearch(id=f"ws_{id}", action=SearchAction(query=_query(arguments)))

    def _part(self) -> OutputText:
        """Return the text of the open message."""
        message = self._items[-1]
        assert isinstance(message, OutputMessage), "no message is open"
        return message.content[0] if message.content else OutputText(text="")

    def _change(self, part: OutputText) -> None:
        self._items[-1] = self._items[-1].model_copy(update={"content": [part]})

    def _open_message(self) -> Iterator[ResponseEvent]:
        if self._is_open and isinstance(self._items[-1], OutputMessage):
            return
        yield from self._open(
            OutputMessage(id=f"msg_{uuid.uuid4().hex}", status="in_progress", content=[])
        )
        yield self._part_event("response.content_part.added", part=OutputText(text=""))

    def _open(self, item: OutputItem) -> Iterator[ResponseEvent]:
        yield from self._close()
        self._items.append(item)
        self._is_open = True
        yield self._item_event("response.output_item.added", item=item)

    def _close(self) -> Iterator[ResponseEvent]:
        """Yield the events that end the open item."""
        if not self._is_open:
            return
        self._is_open = False
        item = self._items[-1]
        if isinstance(item, OutputMessage):
            part = self._part()
            item = item.model_copy(update={"status": "completed", "content": [part]})
            yield self._part_event("response.output_text.done", text=part.text, logprobs=[])
            yield self._part_event("response.content_part.done", part=part)
        elif isinstance(item, OutputReasoning):
            [thought] = item.content
            yield self._part_event("response.reasoning_text.done", text=thought.text)
        self._items[-1] = item
        yield self._item_event("response.output_item.done", item=item)

    def _report_call(self, call: OutputCall) -> Iterator[ResponseEvent]:
        yield from self._open(call.model_copy(update={"arguments": "", "status": "in_progress"}))
        self._items[-1] = call
        place: dict[str, Any] = {"item_id": call.id}
        arguments = "response.function_call_arguments"
        yield self._item_event(f"{arguments}.delta", **place, delta=call.arguments)
        yield self._item_event(
            f"{arguments}.done", **place, arguments=call.arguments, name=call.name
        )
        yield from self._close()

    def _part_event(self, type: str, **fields: Any) -> ResponseEvent:
        return self._item_event(type, item_id=self._items[-1].id, content_index=0, **fields)

    def _item_event(self, type: str, **fields: Any) -> ResponseEvent:
        return self._event(type, output_index=len(self._items) - 1, **fields)

    def _event(self, type: str, **fields: Any) -> ResponseEvent:
        self._sequence += 1
        return ResponseEvent.model_validate(
            {"type": type, "sequence_number": self._sequence, **fields}
        )

    def as_ended(self) -> ModelResponse:
        """Return the answer, once all of it was taken."""
        if self._problem or self._reason == "error":
            problem = self._problem or "The model failed while it answered. Ask again."
            return self._with_status(
                "failed", error=ResponseError(code="server_error", message=problem)
            )
        if self._reason in ("length", "model_length"):
            return self._with_status(
                "incomplete", incomplete_details=Incomplete(reason="max_output_tokens")
            )
        return self._with_status("completed")

    def _with_status(self, status: Status, **more: Any) -> ModelResponse:
        used, talk = self._usage, self._request.conversation_id
        echoed = self._request.model_dump(
            mode="json", by_alias=True, exclude_none=True, include=_ECHOED
        )
        for tool in echoed["tools"]:
            # A key of the caller's is neither said again nor kept.
            tool.pop("authorization", None)
        return ModelResponse(
            **echoed,
            id=self._id,
            created_at=self._created,
            status=status,
            conversation=ConversationId(id=talk) if talk else None,
            output=list(self._items),
            usage=None
            if used is None
            else ResponseUsage(
                input_tokens=used.prompt_tokens,
                output_tokens=used.completion_tokens,
                total_tokens=used.total_tokens,
            ),
            **more,
        )


def _query(arguments: str) -> str:
    """Return the words of a search, or all its arguments where they have no `query`."""
    try:
        return str(json.loads(arguments)["query"])
    except (ValueError, LookupError, TypeError):
        return arguments


def _call(call: ToolCall) -> OutputCall:
    return OutputCall(
        id=f"fc_{uuid.uuid4().hex}",
        call_id=call.id,
        name=call.function.name,
        arguments=call.function.arguments,
        status="completed",
    )
