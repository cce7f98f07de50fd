"""Asking for completions as an official client would, of an agent or of a model."""

import json
from typing import Any

import httpx

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 2},
    },
    "required": ["city", "tags"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}


class Answers:
    """What answers at a path, named by the fields that are in every request."""

    def __init__(self, http: httpx.Client, path: str, **fields: Any) -> None:
        self.http = http
        self._path = path
        self._fields = fields

    def post(self, question: str | list[dict[str, Any]], **options: Any) -> httpx.Response:
        if isinstance(question, str):
            question = [{"role": "user", "content": question}]
        body = {**self._fields, "messages": question, "max_tokens": 24, **options}
        return self.http.post(self._path, json=body, timeout=120)

    def ask(self, question: str | list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        response = self.post(question, **options)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def text(self, question: str | list[dict[str, Any]], **options: Any) -> str:
        return str(self.ask(question, **options)["choices"][0]["message"]["content"])

    def chunks(self, question: str | list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
        response = self.post(question, stream=True, **options)
        assert response.status_code == 200, response.text
        *events, last, rest = response.text.split("\n\n")
        assert (last, rest) == ("data: [DONE]", "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def refusal(self, question: str | list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        response = self.post(question, **options)
        assert response.status_code == 400, response.text
        body: dict[str, Any] = response.json()
        return body


def written(chunks: list[dict[str, Any]], index: int = 0) -> str:
    return "".join(
        choice["delta"].get("content") or ""
        for chunk in chunks
        for choice in chunk["choices"]
        if choice["index"] == index
    )
