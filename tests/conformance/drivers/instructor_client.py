"""Structured answers through instructor."""

from typing import Any

import instructor
import openai
from pydantic import BaseModel, Field

from conformance.drivers.operation import KEY, MODEL, URL, operation


class City(BaseModel):
    city: str = Field(max_length=12)


client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
asked: Any = [{"role": "user", "content": "The capital of Italy is Rome. Name it."}]


@operation("chat: whole")
def _() -> None:
    wrapped = instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA)
    answer = wrapped.chat.completions.create(model=MODEL, response_model=City, messages=asked)
    assert answer.city


@operation("chat: with a tool")
def _() -> None:
    wrapped = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
    answer = wrapped.chat.completions.create(model=MODEL, response_model=City, messages=asked)
    assert answer.city
