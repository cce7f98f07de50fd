"""Full life cycles through the vendor's Python client, old and new."""

import json
import time
from types import SimpleNamespace
from typing import Any

from conformance.drivers.operation import (
    KEY,
    MODEL,
    PDF,
    PNG,
    QUESTION,
    THINKING_KEY,
    THINKING_URL,
    URL,
    WEATHER,
    data_url,
    fetch,
    operation,
)

try:
    from mistralai.client import Mistral
except ImportError:
    from mistralai import Mistral

client = Mistral(api_key=KEY, server_url=URL)
thinking = Mistral(api_key=THINKING_KEY, server_url=THINKING_URL)
agents, libraries = client.beta.agents, client.beta.libraries
documents, accesses = libraries.documents, libraries.accesses

made = SimpleNamespace()
short: Any = {"max_tokens": 8, "random_seed": 1}
hello: Any = [{"role": "user", "content": "Say hello."}]


@operation("files: upload")
def _() -> None:
    file = {"file_name": PDF.name, "content": PDF.read_bytes()}
    made.file = client.files.upload(file=file, purpose="ocr")
    assert made.file.size_bytes == PDF.stat().st_size


@operation("files: list")
def _() -> None:
    assert made.file.id in [file.id for file in client.files.list().data]
    assert client.files.list(search="no such file", page_size=1).data == []


@operation("files: retrieve")
def _() -> None:
    file = client.files.retrieve(file_id=made.file.id)
    assert (file.filename, file.deleted) == (PDF.name, False)


@operation("files: download")
def _() -> None:
    assert client.files.download(file_id=made.file.id).read() == PDF.read_bytes()


@operation("files: signed address")
def _() -> None:
    made.address = client.files.get_signed_url(file_id=made.file.id, expiry=1).url
    assert fetch(made.address) == PDF.read_bytes()


def ocr(document: dict[str, Any], **options: Any) -> Any:
    return client.ocr.process(model="mistral-ocr-latest", document=document, **options)


def by_id() -> dict[str, Any]:
    return {"type": "file", "file_id": made.file.id}


@operation("OCR: file id")
def _() -> None:
    answer = ocr(by_id(), include_image_base64=True)
    assert [page.index for page in answer.pages] == [0, 1]
    assert answer.usage_info.pages_processed == 2


@operation("OCR: signed address")
def _() -> None:
    answer = ocr({"type": "document_url", "document_url": made.address})
    assert "carrel" in answer.pages[0].markdown


@operation("OCR: data URL")
def _() -> None:
    picture = {"type": "image_url", "image_url": data_url(PNG)}
    assert "carrel" in ocr(picture).pages[0].markdown


@operation("OCR: pages")
def _() -> None:
    assert [page.index for page in ocr(by_id(), pages=[1]).pages] == [1]


@operation("OCR: blocks")
def _() -> None:
    blocks = ocr(by_id(), include_blocks=True, pages="0").pages[0].blocks
    assert {"title", "text", "table"} <= {block.type for block in blocks}


@operation("OCR: scores")
def _() -> None:
    page = ocr(by_id(), confidence_scores_granularity="word", pages="0-1").pages[0]
    assert 0 < page.confidence_scores.average_page_confidence_score <= 1
    assert page.confidence_scores.word_confidence_scores
    page = ocr(by_id(), confidence_scores_granularity="page").pages[0]
    assert not page.confidence_scores.word_confidence_scores


@operation("files: delete")
def _() -> None:
    assert client.files.delete(file_id=made.file.id).deleted


@operation("libraries: create")
def _() -> None:
    made.library = libraries.create(name="rules", description="of the house")
    assert made.library.nb_documents == 0


@operation("libraries: list")
def _() -> None:
    assert made.library.id in [library.id for library in libraries.list().data]


@operation("libraries: get")
def _() -> None:
    assert libraries.get(library_id=made.library.id).name == "rules"


@operation("libraries: update")
def _() -> None:
    assert libraries.update(library_id=made.library.id, name="house rules").name == "house rules"


@operation("libraries: share")
def _() -> None:
    library = {"library_id": made.library.id}
    organisation = accesses.list(**library).data[0].org_id
    whom: Any = {
        "org_id": organisation,
        "share_with_uuid": organisation,
        "share_with_type": "Workspace",
    }
    shared = accesses.update_or_create(**library, **whom, level="Viewer")
    assert shared.role == "Viewer"
    assert len(accesses.list(**library).data) == 2
    assert accesses.delete(**library, **whom).share_with_uuid == organisation
    assert len(accesses.list(**library).data) == 1


def document() -> dict[str, str]:
    return {"library_id": made.library.id, "document_id": made.document.id}


def processed() -> Any:
    """The document's status once processing is over."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        status = documents.status(**document())
        if status.processing_status != "Running":
            return status
        time.sleep(0.2)
    raise TimeoutError("the document was not processed in 120 seconds")


@operation("documents: upload")
def _() -> None:
    file = {"file_name": PDF.name, "content": PDF.read_bytes()}
    made.document = documents.upload(library_id=made.library.id, file=file)
    assert made.document.size == PDF.stat().st_size


@operation("documents: status")
def _() -> None:
    status = processed()
    assert status.processing_status == "Completed"
    assert getattr(status, "process_status", "done") == "done"


@operation("documents: list")
def _() -> None:
    listed = documents.list(library_id=made.library.id)
    assert [one.id for one in listed.data] == [made.document.id]
    assert listed.pagination.total_items == 1


@operation("documents: get")
def _() -> None:
    assert documents.get(**document()).number_of_pages == 2


@operation("documents: update")
def _() -> None:
    assert documents.update(**document(), name="rules.pdf").name == "rules.pdf"


@operation("documents: text")
def _() -> None:
    assert "carrel" in documents.text_content(**document()).text


@operation("documents: signed addresses")
def _() -> None:
    assert fetch(documents.get_signed_url(**document())) == PDF.read_bytes()
    assert b"carrel" in fetch(documents.extracted_text_signed_url(**document()))


@operation("documents: reprocess")
def _() -> None:
    documents.reprocess(**document())
    assert processed().processing_status == "Completed"


@operation("agents: create")
def _() -> None:
    made.agent = agents.create(
        model="smollm2",
        name="guide",
        instructions="Be brief.",
        tools=[WEATHER],
        completion_args={"temperature": 0.1},
    )
    assert made.agent.version == 0


@operation("agents: get")
def _() -> None:
    assert agents.get(agent_id=made.agent.id).instructions == "Be brief."


@operation("agents: update")
def _() -> None:
    assert agents.update(agent_id=made.agent.id, instructions="Be short.", tools=[]).version == 1


@operation("agents: list")
def _() -> None:
    assert made.agent.id in [agent.id for agent in agents.list()]


@operation("agents: list by cursor")
def _() -> None:
    listed: list[str] = []
    page = agents.list_pages(page_size=1)
    while page is not None:
        listed += [agent.id for agent in page.result.data]
        page = page.next()
    assert made.agent.id in listed


@operation("agents: versions")
def _() -> None:
    versions = agents.list_versions(agent_id=made.agent.id)
    assert sorted(agent.version for agent in versions) == [0, 1]


@operation("agents: one version")
def _() -> None:
    version = agents.get_version(agent_id=made.agent.id, version="0")
    assert version.instructions == "Be brief."


@operation("agents: switch version")
def _() -> None:
    assert agents.update_version(agent_id=made.agent.id, version=0).instructions == "Be brief."
    assert agents.update_version(agent_id=made.agent.id, version=1).instructions == "Be short."


@operation("agents: aliases")
def _() -> None:
    agent = {"agent_id": made.agent.id}
    assert agents.create_version_alias(**agent, alias="live", version=0).version == 0
    assert [one.alias for one in agents.list_version_aliases(**agent)] == ["live"]
    assert agents.get(**agent, agent_version="live").instructions == "Be brief."
    agents.delete_version_alias(**agent, alias="live")
    assert agents.list_version_aliases(**agent) == []


@operation("agent completions: whole")
def _() -> None:
    answer = client.agents.complete(agent_id=made.agent.id, messages=hello, **short)
    assert answer.choices[0].message.content
    assert answer.usage.completion_tokens <= 8


@operation("agent completions: streamed")
def _() -> None:
    events = client.agents.stream(agent_id=made.agent.id, messages=hello, **short)
    chunks = [event.data for event in events]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason in ("stop", "length")
    assert chunks[-1].usage.total_tokens > 0


@operation("agent completions: with a tool")
def _() -> None:
    asked: list[Any] = [{"role": "user", "content": QUESTION}]
    answer = client.agents.complete(
        agent_id=made.agent.id, messages=asked, tools=[WEATHER], tool_choice="any", max_tokens=64
    )
    message = answer.choices[0].message
    (call,) = message.tool_calls
    assert (answer.choices[0].finish_reason, call.function.name) == ("tool_calls", "weather")
    result = {"role": "tool", "tool_call_id": call.id, "name": "weather", "content": "Sunny."}
    asked += [message, result]
    answer = client.agents.complete(agent_id=made.agent.id, messages=asked, **short)
    assert answer.choices[0].message.content


@operation("agent completions: with a library")
def _() -> None:
    library: Any = {"type": "document_library", "library_ids": [made.library.id]}
    agents.update(agent_id=made.agent.id, tools=[library])
    asked: Any = [{"role": "user", "content": "What does every carrel have?"}]
    answer = client.agents.complete(agent_id=made.agent.id, messages=asked, **short)
    assert answer.usage.prompt_tokens > 60


@operation("chat: whole")
def _() -> None:
    answer = client.chat.complete(model=MODEL, messages=hello, temperature=0.1, **short)
    assert answer.choices[0].message.content
    assert answer.model == MODEL


@operation("chat: streamed")
def _() -> None:
    chunks = [event.data for event in client.chat.stream(model=MODEL, messages=hello, **short)]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert chunks[-1].usage.total_tokens > 0


@operation("chat: with a tool")
def _() -> None:
    asked: list[Any] = [{"role": "user", "content": QUESTION}]
    options: Any = {"tools": [WEATHER], "max_tokens": 64}
    answer = client.chat.complete(model=MODEL, messages=asked, tool_choice="any", **options)
    message = answer.choices[0].message
    (call,) = message.tool_calls
    assert (answer.choices[0].finish_reason, call.function.name) == ("tool_calls", "weather")
    result = {"role": "tool", "tool_call_id": call.id, "name": "weather", "content": "Sunny."}
    asked += [message, result]
    assert client.chat.complete(model=MODEL, messages=asked, **short).choices[0].message.content


reason: Any = {"model": MODEL, "messages": hello, "prompt_mode": "reasoning"}


@operation("reasoning: whole")
def _() -> None:
    thought, said = thinking.chat.complete(**reason).choices[0].message.content
    assert (thought.type, thought.thinking[0].text, said.text) == (
        *("thinking", "Let me see.", "Four."),
    )


@operation("reasoning: streamed")
def _() -> None:
    deltas = [event.data.choices[0].delta.content for event in thinking.chat.stream(**reason)]
    chunks = [chunk for content in deltas if isinstance(content, list) for chunk in content]
    assert "".join(chunk.thinking[0].text for chunk in chunks) == "Let me see."


@operation("embeddings: create")
def _() -> None:
    answer = client.embeddings.create(model="mistral-embed", inputs=["a lamp", "a chair"])
    assert [one.index for one in answer.data] == [0, 1]
    assert answer.data[0].embedding != answer.data[1].embedding


conversations = client.beta.conversations


def talk() -> dict[str, str]:
    return {"conversation_id": made.talk.conversation_id}


@operation("conversations: start")
def _() -> None:
    made.talk = conversations.start(
        model=MODEL, inputs="Say hello.", instructions="Be brief.", completion_args=short
    )
    (output,) = made.talk.outputs
    assert (output.type, bool(output.content)) == ("message.output", True)
    assert made.talk.usage.total_tokens > 0


@operation("conversations: append")
def _() -> None:
    said: Any = [{"role": "user", "content": "Again."}]
    answer = conversations.append(**talk(), inputs=said, completion_args=short)
    assert answer.conversation_id == made.talk.conversation_id
    assert answer.outputs[0].content


@operation("conversations: streamed")
def _() -> None:
    events = list(conversations.append_stream(**talk(), inputs="And again.", completion_args=short))
    names = [event.event for event in events]
    assert names[0] == "conversation.response.started"
    assert names[-1] == "conversation.response.done"
    deltas = [event.data for event in events if event.event == "message.output.delta"]
    assert "".join(delta.content for delta in deltas)
    assert events[-1].data.usage.total_tokens > 0


@operation("conversations: with an agent")
def _() -> None:
    answer = conversations.start(agent_id=made.agent.id, inputs="Say hello.", completion_args=short)
    assert answer.outputs[-1].agent_id == made.agent.id


@operation("conversations: with a tool")
def _() -> None:
    arguments: Any = {"max_tokens": 64, "tool_choice": "any"}
    answer = conversations.start(
        model=MODEL, inputs=QUESTION, tools=[WEATHER], completion_args=arguments
    )
    (called,) = answer.outputs
    assert (called.type, called.name) == ("function.call", "weather")
    result: Any = {
        "type": "function.result",
        "tool_call_id": called.tool_call_id,
        "result": "Sunny.",
    }
    answer = conversations.append(
        conversation_id=answer.conversation_id,
        inputs=[result],
        completion_args={**short, "tool_choice": "none"},
    )
    assert answer.outputs[0].content


@operation("conversations: history")
def _() -> None:
    entries = conversations.get_history(**talk()).entries
    assert [entry.type for entry in entries] == ["message.input", "message.output"] * 3
    made.entry = entries[1].id


@operation("conversations: messages")
def _() -> None:
    assert len(conversations.get_messages(**talk()).messages) == 6


@operation("conversations: restart")
def _() -> None:
    answer = conversations.restart(
        **talk(), inputs="Again.", from_entry_id=made.entry, completion_args=short
    )
    assert answer.conversation_id != made.talk.conversation_id
    entries = conversations.get_history(conversation_id=answer.conversation_id).entries
    assert len(entries) == 4


@operation("conversations: get")
def _() -> None:
    kept = conversations.get(**talk())
    assert (kept.model, kept.instructions) == (MODEL, "Be brief.")


@operation("conversations: list")
def _() -> None:
    assert made.talk.conversation_id in [one.id for one in conversations.list()]


@operation("conversations: delete")
def _() -> None:
    conversations.delete(**talk())
    assert made.talk.conversation_id not in [one.id for one in conversations.list()]


def ended(job: Any) -> Any:
    """A batch once it has ended."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        job = client.batch.jobs.get(job_id=job.id)
        if job.status not in ("QUEUED", "RUNNING", "CANCELLATION_REQUESTED"):
            return job
        time.sleep(0.1)
    raise TimeoutError("the batch did not end in 120 seconds")


@operation("batch jobs: create")
def _() -> None:
    lines = [{"custom_id": str(n), "body": {"input": [f"lamp {n}"]}} for n in range(3)]
    data = "\n".join(map(json.dumps, lines)).encode()
    file: Any = {"file_name": "lamps.jsonl", "content": data}
    made.requests = client.files.upload(file=file, purpose="batch")
    made.batch = client.batch.jobs.create(
        input_files=[made.requests.id],
        endpoint="/v1/embeddings",
        model="mistral-embed",
        metadata={"of": "lamps"},
    )
    assert made.batch.total_requests == 3


@operation("batch jobs: inline")
def _() -> None:
    request: Any = {"custom_id": "a", "body": {"input": ["a lamp"]}}
    made.inline = client.batch.jobs.create(
        requests=[request], endpoint="/v1/embeddings", model="mistral-embed"
    )
    ended(made.inline)
    (line,) = client.batch.jobs.get(job_id=made.inline.id, inline=True).outputs
    assert line["custom_id"] == "a"


@operation("batch jobs: get")
def _() -> None:
    made.batch = ended(made.batch)
    assert (made.batch.status, made.batch.succeeded_requests) == ("SUCCESS", 3)


@operation("batch jobs: list")
def _() -> None:
    listed = client.batch.jobs.list(status=["SUCCESS"])
    assert made.batch.id in [job.id for job in listed.data]
    assert client.batch.jobs.list(status=["FAILED"]).total == 0


@operation("batch jobs: output")
def _() -> None:
    content = client.files.download(file_id=made.batch.output_file).read()
    lines = [json.loads(line) for line in content.splitlines()]
    assert [line["custom_id"] for line in lines] == ["0", "1", "2"]
    assert all(line["response"]["body"]["data"] for line in lines)


@operation("batch jobs: cancel")
def _() -> None:
    job = client.batch.jobs.create(
        input_files=[made.requests.id], endpoint="/v1/embeddings", model="mistral-embed"
    )
    client.batch.jobs.cancel(job_id=job.id)
    assert ended(job).status in ("CANCELLED", "SUCCESS")


@operation("batch jobs: delete")
def _() -> None:
    assert client.batch.jobs.delete(job_id=made.batch.id).deleted


@operation("models: list")
def _() -> None:
    cards = client.models.list().data
    assert any(MODEL in (card.id, *card.aliases) for card in cards)


@operation("users: identity")
def _() -> None:
    security = {"bearer_user_context_auth": KEY}
    assert client.beta.users.get_identity(security=security).organization.id


@operation("users: organisations")
def _() -> None:
    security = {"bearer_user_context_auth": KEY}
    assert client.beta.users.list_organizations(security=security).result.organizations


@operation("agents: delete")
def _() -> None:
    agents.delete(agent_id=made.agent.id)
    assert made.agent.id not in [agent.id for agent in agents.list()]


@operation("documents: delete")
def _() -> None:
    documents.delete(**document())
    assert documents.list(library_id=made.library.id).data == []


@operation("libraries: delete")
def _() -> None:
    assert libraries.delete(library_id=made.library.id).id == made.library.id
