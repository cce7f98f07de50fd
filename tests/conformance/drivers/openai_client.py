"""Chat, responses, files, embeddings and models through openai's own client."""

from typing import Any

import openai

from conformance.drivers.operation import KEY, MODEL, PDF, QUESTION, URL, WEATHER, operation

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
short: Any = {"model": MODEL, "temperature": 0}


class Stored:
    """What one operation leaves for the next."""

    file = ""


@operation("files: upload")
def _() -> None:
    with PDF.open("rb") as pdf:
        Stored.file = client.files.create(file=pdf, purpose="batch").id


@operation("files: list")
def _() -> None:
    assert Stored.file in [file.id for file in client.files.list()]


@operation("files: retrieve")
def _() -> None:
    assert client.files.retrieve(Stored.file).filename == PDF.name


@operation("files: download")
def _() -> None:
    assert client.files.content(Stored.file).read() == PDF.read_bytes()


@operation("files: delete")
def _() -> None:
    assert client.files.delete(Stored.file).deleted


@operation("chat: whole")
def _() -> None:
    asked: Any = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    answer = client.chat.completions.create(messages=asked, max_completion_tokens=8, **short)
    assert answer.choices[0].message.content
    assert answer.usage.completion_tokens <= 8


@operation("chat: streamed")
def _() -> None:
    asked: Any = [{"role": "user", "content": "Say hello."}]
    with client.chat.completions.stream(messages=asked, **short) as stream:
        assert stream.get_final_completion().choices[0].message.content


@operation("chat: with a tool")
def _() -> None:
    asked: Any = [{"role": "user", "content": QUESTION}]
    options = {"tools": [WEATHER], "tool_choice": "required", "max_tokens": 64, **short}
    message = client.chat.completions.create(messages=asked, **options).choices[0].message
    (call,) = message.tool_calls
    assert call.function.name == "weather"
    asked += [message, {"role": "tool", "tool_call_id": call.id, "content": "Sunny."}]
    answer = client.chat.completions.create(messages=asked, max_tokens=8, **short)
    assert answer.choices[0].message.content


@operation("responses: whole")
def _() -> None:
    answer = client.responses.create(input="Say hello.", max_output_tokens=8, **short)
    assert answer.output_text
    assert answer.usage.output_tokens <= 8


@operation("responses: streamed")
def _() -> None:
    with client.responses.stream(input="Say hello.", max_output_tokens=24, **short) as stream:
        events = list(stream)
    text = "".join(event.delta for event in events if event.type.endswith("text.delta"))
    assert text
    # Incomplete if the model went on to the token limit, in which case the client has no answer.
    assert events[-1].type in ("response.completed", "response.incomplete")
    assert events[-1].response.output_text == text


@operation("responses: with a tool")
def _() -> None:
    asked: Any = [{"role": "user", "content": QUESTION}]
    tools: Any = [{"type": "function", **WEATHER["function"]}]
    answer = client.responses.create(input=asked, tools=tools, tool_choice="required", **short)
    (call,) = answer.output
    assert (call.type, call.name) == ("function_call", "weather")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny."}
    answer = client.responses.create(input=[*asked, call, result], max_output_tokens=8, **short)
    assert answer.output_text


@operation("embeddings: create")
def _() -> None:
    made = client.embeddings.create(model="text-embedding-3-small", input=["a lamp", "a chair"])
    lamp, chair = made.data
    assert lamp.embedding != chair.embedding


@operation("models: list")
def _() -> None:
    assert MODEL in [model.id for model in client.models.list()]
