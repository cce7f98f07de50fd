"""A language model at an address that answers as a function says, and remembers its questions."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from support.answering import Answering, answering

Answer = dict[str, Any]
"""A message: its `content`, or its `tool_calls`; or an `error` that refuses the request."""


def echo(body: dict[str, Any]) -> Answer:
    """Says the last message again."""
    return {"content": body["messages"][-1]["content"]}


def call(name: str, **arguments: Any) -> Answer:
    """Calls a function."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"index": 0, "id": "call", "type": "function", "function": function}]}


def searching(query: str, answer: str) -> Callable[[dict[str, Any]], Answer]:
    """Searches the libraries for `query`, and then says `answer`."""

    def take(body: dict[str, Any]) -> Answer:
        is_found = body["messages"][-1]["role"] == "tool"
        return {"content": answer} if is_found else call("document_library", query=query)

    return take


class SpokenModel:
    """Answers chats with what `answer` makes of them; `asked` are their bodies, in order.

    An answer of several messages is sent in so many pieces.
    """

    def __init__(self) -> None:
        self.url = ""
        self.answer: Callable[[dict[str, Any]], Answer | list[Answer]] = echo
        self.asked: list[dict[str, Any]] = []
        self._changed = threading.Condition()

    def take(self, body: dict[str, Any]) -> list[Answer]:
        with self._changed:
            self.asked.append(body)
            self._changed.notify_all()
        answer = self.answer(body)
        return answer if isinstance(answer, list) else [answer]

    def wait_for_questions(self, count: int) -> None:
        """Returns once so many questions have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, 60)

    @property
    def questions(self) -> list[str]:
        """The last message of every chat."""
        return [body["messages"][-1]["content"] for body in list(self.asked)]


@contextmanager
def spoken_model() -> Iterator[SpokenModel]:
    """Runs a model in threads of this process."""
    model = SpokenModel()

    class Handler(Answering):
        def do_GET(self) -> None:
            listed = {"data": [{"id": "spoken", "max_model_len": 32768}]}
            self.reply(*((200, listed) if self.path == "/v1/models" else (404, {})))

        def do_POST(self) -> None:
            body = self.body()
            if self.path != "/v1/chat/completions":
                self.reply(404, {})
                return
            answers = model.take(body)
            if "error" in answers[0]:
                self.reply(400, answers[0])
                return
            reason = "tool_calls" if "tool_calls" in answers[-1] else "stop"
            usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
            events = [
                json.dumps(
                    {
                        "choices": [
                            {
                                "index": 0,
                                "delta": delta,
                                "finish_reason": end,
                                "logprobs": delta.pop("logprobs", None),
                            }
                        ],
                        "usage": used,
                    }
                )
                for delta, end, used in (
                    ({"role": "assistant"}, None, None),
                    *((answer, None, None) for answer in answers),
                    ({}, reason, usage),
                )
            ]
            data = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()
            self.send(200, "text/event-stream", data)

    with answering(Handler) as url:
        model.url = f"{url}/v1"
        yield model
