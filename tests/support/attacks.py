"""Requests that once took the server from everybody: path, body, and words of the refusal."""

import json
import time
from collections import Counter
from functools import cache
from itertools import cycle
from typing import Any

import httpx

HALF = "\ud800"
NESTED: dict[str, Any] = {}
for _ in range(900):
    NESTED = {"a": NESTED}
TALK = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}] * 100_000
WORDS = "word " * 4_000_000
LONG = "word " * 60_000
"""Far more than the built-in model's context, and quickly sent."""
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CHAT: dict[str, Any] = {"model": "smollm2", "messages": [{"role": "user", "content": "Hello"}]}
LONG_CALL = {"id": "callcall1", "type": "function", "function": {"name": "f", "arguments": LONG}}
CALLED = [
    *CHAT["messages"],
    {"role": "assistant", "content": "", "tool_calls": [LONG_CALL]},
    {"role": "tool", "tool_call_id": "callcall1", "content": "x"},
]
AGENT = {"model": "smollm2", "name": "a"}
# A part of a schema refers to the next ten times over: it is 10 ** 12 parts large.
LEVELS = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 10} for n in range(12)}
SCHEMA = {"$defs": {**LEVELS, "l12": {"type": "string"}}, "$ref": "#/$defs/l0"}


def _format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}


ATTACKS: dict[str, tuple[str, Any, str]] = {
    "metadata that is nested": ("agents", {**AGENT, "metadata": NESTED}, "100 deep"),
    "half a pair in a name": ("agents", {**AGENT, "name": HALF}, "surrogate"),
    "half a pair in a key": ("agents", {**AGENT, "metadata": {HALF: 1}}, "surrogate"),
    "half a pair in a library": ("libraries", {"name": HALF}, "surrogate"),
    "half a pair in a question": (
        "chat/completions",
        {**CHAT, "messages": [{"role": "user", "content": HALF}]},
        "surrogate",
    ),
    "half a pair in a conversation": (
        "conversations",
        {"model": "smollm2", "inputs": HALF},
        "surrogate",
    ),
    "half a pair in a batch": (
        "batch/jobs",
        {"endpoint": "/v1/chat/completions", "requests": [{"custom_id": HALF, "body": CHAT}]},
        "surrogate",
    ),
    "a number without end": ("agents", {**AGENT, "metadata": {"n": float("nan")}}, "finite"),
    "many messages": ("chat/completions", {**CHAT, "messages": TALK}, "10000"),
    "many entries": ("conversations", {"model": "smollm2", "inputs": TALK}, "10000"),
    "many items": ("responses", {"model": "smollm2", "input": TALK}, "10000"),
    "many parts": (
        "chat/completions",
        {
            **CHAT,
            "messages": [{"role": "user", "content": [{"type": "text", "text": ""}] * 20_000}],
        },
        "10000",
    ),
    "many tools": ("chat/completions", {**CHAT, "tools": [TOOL] * 100_000}, "1000"),
    "many tools of an agent": ("agents", {**AGENT, "tools": [TOOL] * 100_000}, "1000"),
    "many stops": ("chat/completions", {**CHAT, "stop": ["x"] * 100_000}, "1000"),
    "many texts": ("embeddings", {"model": "carrel-embed", "input": ["a"] * 100_000}, "2048"),
    "a long question": (
        "chat/completions",
        {**CHAT, "messages": [{"role": "user", "content": WORDS}]},
        "Shorten it",
    ),
    "a long conversation": (
        "conversations",
        {"model": "smollm2", "inputs": WORDS, "stream": True},
        "Shorten it",
    ),
    "instructions of an agent": ("agents", {**AGENT, "instructions": WORDS}, "may have 1000000"),
    "a long name": ("libraries", {"name": WORDS}, "may have 1000000"),
    "a long name of a store": ("vector_stores", {"name": WORDS}, "may have 1000000"),
    "long instructions": (
        "conversations",
        {"model": "smollm2", "inputs": "Hello", "instructions": LONG},
        "Shorten it",
    ),
    "a long description": (
        "chat/completions",
        {**CHAT, "tools": [{"type": "function", "function": {"name": "f", "description": LONG}}]},
        "Shorten it",
    ),
    "long arguments": ("chat/completions", {**CHAT, "messages": CALLED}, "Shorten it"),
    "a long stop": ("chat/completions", {**CHAT, "stop": [LONG]}, "Shorten it"),
    "a long text": ("embeddings", {"model": "carrel-embed", "input": WORDS}, "Split it"),
    "many long texts": (
        "embeddings",
        {"model": "carrel-embed", "input": ["word " * 19_999] * 51},
        "fewer at once",
    ),
    "a schema of references": (
        "chat/completions",
        {**CHAT, "response_format": _format(SCHEMA)},
        "10,000 parts",
    ),
    "a tool of references": (
        "chat/completions",
        {**CHAT, "tools": [{**TOOL, "function": {"name": "f", "parameters": SCHEMA}}]},
        "10,000 parts",
    ),
    "a conversation of references": (
        "conversations",
        {
            "model": "smollm2",
            "inputs": "Hello",
            "completion_args": {"response_format": _format(SCHEMA)},
        },
        "10,000 parts",
    ),
}


def attack_for(url: str, key: str, seconds: float) -> Counter[str]:
    """Sends one attack after the other for some seconds; how many of each kind were refused."""
    refused, until = Counter[str](), time.monotonic() + seconds
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    following = _encoded()
    with httpx.Client(base_url=url, headers=headers, timeout=120) as http:
        while time.monotonic() < until:
            name, path, body = next(following)
            answer = http.post(f"/v1/{path}", content=body)
            assert answer.status_code in (400, 422, 429), answer.text
            refused[name] += 1
    return refused


@cache
def _encoded() -> "cycle[tuple[str, str, bytes]]":
    return cycle(
        [(name, path, json.dumps(body).encode()) for name, (path, body, _) in ATTACKS.items()]
    )
