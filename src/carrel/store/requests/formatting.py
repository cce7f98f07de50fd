"""Formatting of the request log, and of a call as a command or code."""

from __future__ import annotations

import json
import re
import shlex
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from carrel.store.core.formatting import Badge, count, duration, size

if TYPE_CHECKING:
    from carrel.client import Call
    from carrel.store.requests.service import LoggedCall, RequestsState


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A row of the log; `target` is the path with its query."""

    id: str
    when: str
    method: str
    target: str
    status: Badge
    took: str
    size: str
    times: str


def request_rows(state: RequestsState) -> tuple[RequestRow, ...]:
    """Return the calls, newest first."""
    return tuple(
        RequestRow(
            str(item.id),
            time.strftime("%H:%M:%S", time.localtime(item.at)),
            item.call.method,
            target(item.call),
            status(item.call),
            _took(item.call.seconds),
            size(item.call.bytes),
            f"×{count(item.times)}" if item.times > 1 else "",
        )
        for item in state.items
    )


def title(state: RequestsState) -> str:
    """Return `Requests · 214`, and the number of hidden calls."""
    hidden = f" · {count(state.hidden)} hidden until the vote" if state.hidden else ""
    return f"Requests · {count(sum(item.times for item in state.items))}{hidden}"


def target(call: Call) -> str:
    """Return a call's path and query."""
    return f"{call.path}?{call.query}" if call.query else call.path


def status(call: Call) -> Badge:
    """Return `● 200`, `✕ 404`, `○ no answer`."""
    if call.status is None:
        return Badge("○", "no answer", "failed")
    good = call.status < HTTPStatus.BAD_REQUEST
    return Badge("●" if good else "✕", str(call.status), "ready" if good else "failed")


def details(item: LoggedCall) -> str:
    """Return the figures of a call in a line: `200 OK · 12 ms · 1.2 kB`."""
    call = item.call
    try:
        words = f"{call.status} {HTTPStatus(call.status or 0).phrase}"
    except ValueError:
        words = str(call.status) if call.status else "no answer came"
    return " · ".join((words, _took(call.seconds), size(call.bytes)))


def request_text(call: Call) -> str:
    """Return the request as readable text."""
    return f"The file {call.upload}" if call.upload else _indent_json(call.sent)


def answer_text(call: Call) -> str:
    """Return the beginning of the answer as readable text, or the reason why it is not kept."""
    if call.received:
        return _indent_json(call.received)
    if call.path.endswith("url") and call.status == HTTPStatus.OK:
        return "A signed address. It opens without a key, so it is not kept."
    return "" if not call.bytes else f"{size(call.bytes)}, not kept."


def as_curl(call: Call, url: str | None) -> str | None:
    """Return the call as a curl command that reads the key from the environment.

    Returns None for a signed address.
    """
    if call.signed:
        return None
    parts = ["curl"]
    if call.method != "GET":
        parts.append(f"-X {call.method}")
    parts.append(shlex.quote(f"{url or ''}{target(call)}"))
    # In double quotes the shell expands the key's variable.
    parts.append('-H "Authorization: Bearer $CARREL_API_KEY"')
    if call.upload:
        parts.append("-F " + shlex.quote(f"file=@{call.upload}"))
    elif call.sent:
        parts.append("-H 'Content-Type: application/json'")
        parts.append("-d " + shlex.quote(call.sent))
    return " \\\n  ".join(parts)


def as_python(call: Call, url: str | None) -> str | None:
    """Return the call as Python code with httpx, or None for a signed address."""
    if call.signed:
        return None
    arguments = [repr(call.method), repr(f"{url or ''}{call.path}")]
    if call.query:
        arguments.append(f"params={parse_qsl(call.query, keep_blank_values=True)!r}")
    if call.upload:
        arguments.append(f'files={{"file": open({call.upload!r}, "rb")}}')
    elif call.sent:
        arguments.append(f"json={json.loads(call.sent)!r}")
    arguments.append('headers={"Authorization": f"Bearer {os.environ[\'CARREL_API_KEY\']}"}')
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return (
        "import os\n\nimport httpx\n\n"
        f"answer = httpx.request(\n{lines})\nprint(answer.status_code, answer.text)\n"
    )


_COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("GET", "/v1/files", "files list --search {search}"),
    ("GET", "/v1/files", "files list"),
    ("POST", "/v1/files", "files upload {upload}"),
    ("GET", "/v1/files/(.+)/url", "files url {0}"),
    ("GET", "/v1/files/(.+)/content", "files download {0} ."),
    ("GET", "/v1/files/([^/]+)", "files get {0}"),
    ("DELETE", "/v1/files/([^/]+)", "files delete {0}"),
    ("GET", "/v1/libraries", "libraries list"),
    ("POST", "/v1/libraries", "libraries create {name}"),
    ("GET", "/v1/libraries/([^/]+)", "libraries show {0}"),
    ("DELETE", "/v1/libraries/([^/]+)", "libraries delete {0}"),
    ("GET", "/v1/trash", "trash list"),
    ("POST", "/v1/trash/([^/]+)/restore", "trash restore {0}"),
    ("DELETE", "/v1/trash", "trash empty"),
    ("GET", "/v1/libraries/([^/]+)/search", "libraries search {0} {query}"),
    ("GET", "/v1/libraries/([^/]+)/documents", "libraries documents {0} --search {search}"),
    ("GET", "/v1/libraries/([^/]+)/documents", "libraries documents {0}"),
    ("POST", "/v1/libraries/([^/]+)/documents", "libraries add {0} {upload}"),
    ("GET", "/v1/libraries/([^/]+)/documents/([^/]+)/text_content", "libraries text {0} {1}"),
    ("POST", "/v1/libraries/([^/]+)/documents/([^/]+)/reprocess", "libraries reprocess {0} {1}"),
    ("DELETE", "/v1/libraries/([^/]+)/documents/([^/]+)", "libraries remove {0} {1}"),
    ("GET", "/v1/agents", "agents list"),
    ("GET", "/v1/agents/([^/]+)", "agents show {0} --version {agent_version}"),
    ("GET", "/v1/agents/([^/]+)", "agents show {0}"),
    ("DELETE", "/v1/agents/([^/]+)", "agents delete {0}"),
    ("GET", "/v1/agents/([^/]+)/versions", "agents versions {0}"),
    ("PATCH", "/v1/agents/([^/]+)/version", "agents switch {0} {version}"),
    ("POST", "/v1/agents/completions", "chat {agent_id} {question}"),
)
"""Equivalent commands: method, path, and the words after `carrel`. The first whose words are all
known is used."""


def as_command(call: Call, profile: str) -> str | None:
    """Return the equivalent `carrel` command, or None."""
    for method, pattern, words in _COMMANDS:
        found = re.fullmatch(pattern, call.path)
        if method != call.method or found is None:
            continue
        ids = [shlex.quote(unquote(group)) for group in found.groups()]
        named = {name: shlex.quote(value) for name, value in _words_of(call).items()}
        try:
            filled = words.format(*ids, **named)
        except KeyError:
            continue  # a word that this command needs is unknown
        return f"carrel --profile {shlex.quote(profile)} {filled}"
    return None


def _words_of(call: Call) -> dict[str, str]:
    """Return the values of a call that a command takes as words."""
    body: dict[str, Any] = json.loads(call.sent) if call.sent.startswith("{") else {}
    named = {name: str(value) for name, value in parse_qsl(call.query)}
    named |= {name: value for name, value in body.items() if isinstance(value, str)}
    if call.upload:
        named["upload"] = call.upload
    messages = body.get("messages")
    if isinstance(messages, list) and len(messages) == 1:
        content = messages[0].get("content")
        if isinstance(content, str):
            named["question"] = content
    return named


def _took(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 0.95 else duration(seconds)


def _indent_json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text  # truncated, or not JSON
