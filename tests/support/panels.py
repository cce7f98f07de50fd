"""A panel's messages, recorded and played without a kernel or a browser."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from carrel.notebook.panels.core.base import Panel

Condition = Callable[[dict[str, Any]], object]


@dataclass
class Wire:
    """The browser's end of a panel: what arrived there, and a way to send."""

    panel: Panel
    messages: list[dict[str, Any]] = field(default_factory=list)
    buffers: list[list[bytes]] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)
    _arrived: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._first = dict(self.panel.state)
        self.panel.comm.send = self._take

    def _take(self, data: dict[str, Any], buffers: list[bytes] | None = None, **_: Any) -> None:
        with self._arrived:
            self.messages.append(data)
            self.buffers.append([bytes(buffer) for buffer in buffers or ()])
            self.threads.add(threading.current_thread().name)
            self._arrived.notify_all()

    def send(self, content: object, buffers: list[bytes] | None = None) -> None:
        """What a view sends, on whatever thread this is called."""
        message = {"method": "custom", "content": content}
        self.panel._handle_msg(
            {
                "content": {"data": message},
                "buffers": [memoryview(buffer) for buffer in buffers or ()],
            }
        )

    def ask(self, name: str, **arguments: object) -> dict[str, Any]:
        """Sends an intent and gives its last answer, `done` or `error`."""
        rid = f"r{len(self.messages)}"
        self.send({"kind": "intent", "view": "v", "rid": rid, "name": name, "args": arguments})
        return self.wait(lambda content: content.get("rid") == rid and content["kind"] != "ack")

    @property
    def contents(self) -> list[dict[str, Any]]:
        """The custom messages so far."""
        return [message["content"] for message in self.messages if message["method"] == "custom"]

    @property
    def states(self) -> list[dict[str, Any]]:
        """The state at first and those that were sent since."""
        updates = [message for message in self.messages if message["method"] == "update"]
        later = [update["state"]["state"] for update in updates if "state" in update["state"]]
        return [self._first, *later]

    def wait(self, holds: Condition) -> dict[str, Any]:
        """The first custom message for which `holds`, as soon as it is there."""
        with self._arrived:
            found = self._arrived.wait_for(
                lambda: next((one for one in self.contents if holds(one)), None), 10
            )
        assert found, f"no such message among {self.contents}"
        return dict(found)

    def wait_state(self, holds: Condition) -> dict[str, Any]:
        """The first sent state for which `holds`, as soon as it is there."""
        with self._arrived:
            found = self._arrived.wait_for(
                lambda: next((one for one in self.states if holds(one)), None), 10
            )
        assert found, f"no such state among {len(self.states)}"
        return dict(found)
