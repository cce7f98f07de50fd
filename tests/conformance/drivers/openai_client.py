"""Chat, responses, files, embeddings and models through openai's own client."""

import base64
import json
import time
from typing import Any

import openai

from conformance.drivers.operation import (
    KEY,
    MODEL,
    PDF,
    QUESTION,
    THINKING_KEY,
    THINKING_URL,
    URL,
    WEATHER,
    operation,
)

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
thinking = openai.OpenAI(base_url=f"{THINKING_URL}/v1", api_key=THINKING_KEY, max_retries=0)
NOTE = "The notice period is three months."
short: Any = {"model": MODEL, "temperature": 0}


class Stored:
    """What one operation leaves for the next."""

    file = ""
    response = ""
    store = ""
    lines = ""
    batch = ""


def answered_about(file: dict[str, str]) -> None:
    """Asks about a file and about nothing: only its text makes the prompt longer."""

    def tokens(*parts: Any) -> int:
        asked: Any = [{"role": "user", "content": [*parts, {"type": "text", "text": "Hi."}]}]
        answer = client.chat.completions.create(messages=asked, max_tokens=4, **short)
        return int(answer.usage.prompt_tokens)

    assert tokens({"type": "file", "file": file}) > tokens()


def begun_batch() -> Any:
    return client.batches.create(
        input_file_id=Stored.lines, endpoint="/v1/chat/completions", completion_window="24h"
    )


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


@operation("reasoning: whole")
def _() -> None:
    asked: Any = [{"role": "user", "content": "2+2?"}]
    answer = thinking.chat.completions.create(messages=asked, reasoning_effort="high", **short)
    message: Any = answer.choices[0].message
    assert (message.reasoning_content, message.content) == ("Let me see.", "Four.")
    thought, said = thinking.responses.create(input="2+2?", **short).output
    assert (thought.type, thought.content[0].text) == ("reasoning", "Let me see.")
    assert said.content[0].text == "Four."


@operation("reasoning: streamed")
def _() -> None:
    asked: Any = [{"role": "user", "content": "2+2?"}]
    deltas: Any = [
        chunk.choices[0].delta
        for chunk in thinking.chat.completions.create(messages=asked, stream=True, **short)
    ]
    thought = [getattr(delta, "reasoning_content", None) or "" for delta in deltas]
    assert "".join(thought) == "Let me see."
    with thinking.responses.stream(input="2+2?", **short) as stream:
        pieces = [event.delta for event in stream if event.type == "response.reasoning_text.delta"]
    assert "".join(pieces) == "Let me see."


@operation("file parts: stored")
def _() -> None:
    note = client.files.create(file=("note.txt", NOTE.encode()), purpose="user_data")
    answered_about({"file_id": note.id})


@operation("file parts: sent along")
def _() -> None:
    data = f"data:text/plain;base64,{base64.b64encode(NOTE.encode()).decode()}"
    answered_about({"file_data": data, "filename": "note.txt"})


@operation("kept responses: retrieve")
def _() -> None:
    answer = client.responses.create(input="Say hello.", max_output_tokens=8, **short)
    Stored.response = answer.id
    assert client.responses.retrieve(answer.id).output_text == answer.output_text
    (item,) = client.responses.input_items.list(answer.id)
    assert item.role == "user"


@operation("kept responses: continue")
def _() -> None:
    kept = client.responses.retrieve(Stored.response)
    asked: Any = {"previous_response_id": Stored.response, "max_output_tokens": 8, **short}
    answer = client.responses.create(input="And again.", **asked)
    assert answer.previous_response_id == Stored.response
    assert answer.usage.input_tokens > kept.usage.input_tokens


@operation("kept responses: in the background")
def _() -> None:
    asked: Any = {"background": True, "max_output_tokens": 8, **short}
    answer = client.responses.create(input="Say hello.", **asked)
    assert answer.status in ("queued", "in_progress")
    while answer.status in ("queued", "in_progress"):
        time.sleep(0.2)
        answer = client.responses.retrieve(answer.id)
    assert answer.output_text


@operation("kept responses: events again")
def _() -> None:
    asked: Any = {"background": True, "stream": True, "max_output_tokens": 8, **short}
    events = list(client.responses.create(input="Say hello.", **asked))
    last = events[-1]
    assert last.response.output_text
    again = client.responses.retrieve(last.response.id, stream=True, starting_after=3)
    assert [event.type for event in again] == [event.type for event in events[4:]]


@operation("kept responses: in a conversation")
def _() -> None:
    body = {"model": MODEL, "inputs": "Say hello.", "completion_args": {"max_tokens": 8}}
    talk: Any = client.post("/conversations", body=body, cast_to=object)
    asked: Any = {"conversation": talk["conversation_id"], "max_output_tokens": 8, **short}
    first = client.responses.create(input="And again.", **asked)
    second = client.responses.create(input="And again.", **asked)
    assert second.usage.input_tokens > first.usage.input_tokens


@operation("kept responses: cancel")
def _() -> None:
    asked: Any = {"background": True, "max_output_tokens": 2000, **short}
    answer = client.responses.create(input="Tell a long story.", **asked)
    assert client.responses.cancel(answer.id).status == "cancelled"


@operation("kept responses: delete")
def _() -> None:
    client.responses.delete(Stored.response)
    try:
        client.responses.retrieve(Stored.response)
    except openai.NotFoundError:
        return
    raise AssertionError("it is still there")


@operation("vector stores: create")
def _() -> None:
    Stored.store = client.vector_stores.create(name="notes").id
    assert client.vector_stores.retrieve(Stored.store).name == "notes"


@operation("vector stores: add")
def _() -> None:
    note = client.files.create(file=("note.txt", NOTE.encode()), purpose="assistants")
    made = client.vector_stores.files.create_and_poll(
        note.id, vector_store_id=Stored.store, attributes={"kind": "note"}
    )
    assert (made.id, made.status) == (note.id, "completed")
    sent = client.vector_stores.files.upload_and_poll(
        vector_store_id=Stored.store, file=("pets.txt", b"Cats are allowed.")
    )
    assert sent.status == "completed"


@operation("vector stores: add together")
def _() -> None:
    texts = (b"Dogs are not.", b"Birds are.")
    made = client.vector_stores.file_batches.upload_and_poll(
        Stored.store, files=[(f"more-{at}.txt", text) for at, text in enumerate(texts)]
    )
    assert (made.status, made.file_counts.completed) == ("completed", 2)
    files = client.vector_stores.file_batches.list_files(made.id, vector_store_id=Stored.store)
    for file in files:
        client.vector_stores.files.delete(file.id, vector_store_id=Stored.store)
    gone = client.vector_stores.file_batches.retrieve(made.id, vector_store_id=Stored.store)
    assert gone.file_counts.total == 0


@operation("vector stores: list")
def _() -> None:
    assert Stored.store in [store.id for store in client.vector_stores.list(limit=1)]
    assert len(list(client.vector_stores.files.list(Stored.store, limit=1))) == 2


@operation("vector stores: search")
def _() -> None:
    asked: Any = {"filters": {"type": "eq", "key": "kind", "value": "note"}}
    (hit,) = client.vector_stores.search(Stored.store, query="notice period", **asked)
    assert hit.filename == "note.txt"
    assert "three months" in hit.content[0].text


@operation("vector stores: answer from")
def _() -> None:
    tools: Any = [{"type": "file_search", "vector_store_ids": [Stored.store]}]
    answer = client.responses.create(
        input="How long is the notice period?", tools=tools, max_output_tokens=24, **short
    )
    assert answer.output_text


@operation("vector stores: delete")
def _() -> None:
    assert client.vector_stores.delete(Stored.store).deleted


@operation("batches: create")
def _() -> None:
    asked = {"model": MODEL, "max_tokens": 4, "messages": [{"role": "user", "content": "Hi"}]}
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": asked}
    Stored.lines = client.files.create(
        file=("in.jsonl", json.dumps(line).encode()), purpose="batch"
    ).id
    Stored.batch = begun_batch().id


@operation("batches: list")
def _() -> None:
    assert Stored.batch in [batch.id for batch in client.batches.list(limit=1)]


@operation("batches: output")
def _() -> None:
    batch = client.batches.retrieve(Stored.batch)
    while batch.status in ("validating", "in_progress"):
        time.sleep(0.2)
        batch = client.batches.retrieve(Stored.batch)
    assert (batch.status, batch.request_counts.completed) == ("completed", 1)
    output = json.loads(client.files.content(batch.output_file_id).text)
    assert (output["custom_id"], output["response"]["status_code"]) == ("a", 200)


@operation("batches: cancel")
def _() -> None:
    ended = client.batches.cancel(begun_batch().id)
    assert ended.status in ("cancelling", "cancelled", "completed")


@operation("embeddings: create")
def _() -> None:
    made = client.embeddings.create(model="text-embedding-3-small", input=["a lamp", "a chair"])
    lamp, chair = made.data
    assert lamp.embedding != chair.embedding


@operation("models: list")
def _() -> None:
    assert MODEL in [model.id for model in client.models.list()]
