from typing import Any

import pytest
from pydantic import TypeAdapter

from carrel.server.completions.messages import as_chat, check_order, last_question
from carrel.server.errors import ApiError
from carrel.server.models.address import Abilities
from carrel.wire.generation.completions import Message
from carrel.wire.generation.content import DocumentURLChunk, FileChunk, ImageURLChunk

MESSAGES: TypeAdapter[list[Message]] = TypeAdapter(list[Message])
PLAIN = Abilities(tools=False, images=False, llama=True)
CALL = {"id": "abc123XYZ", "function": {"name": "add", "arguments": '{"a": 1}'}}


def messages(*given: dict[str, Any]) -> list[Message]:
    return MESSAGES.validate_python(list(given))


def turns(roles: str) -> list[Message]:
    """Messages by their initials; `c` is an assistant that calls, `p` one with a prefix."""
    known: dict[str, dict[str, Any]] = {
        "s": {"role": "system", "content": "x"},
        "u": {"role": "user", "content": "x"},
        "a": {"role": "assistant", "content": "x"},
        "c": {"role": "assistant", "tool_calls": [CALL]},
        "p": {"role": "assistant", "content": "x", "prefix": True},
        "t": {"role": "tool", "content": "x", "tool_call_id": "abc123XYZ"},
        "e": {"role": "assistant"},
    }
    return messages(*(known[initial] for initial in roles))


Brought = DocumentURLChunk | FileChunk | ImageURLChunk


async def read_nothing(chunk: Brought) -> str:
    raise AssertionError(f"nobody brought a document: {chunk}")


@pytest.mark.parametrize(
    "roles", ["u", "su", "uau", "uaau", "uct", "uctt", "suct", "ucta" + "u", "up", "uctp", "uuu"]
)
def test_orders_that_can_be_answered(roles: str) -> None:
    asked = turns(roles)
    check_order(asked)
    with pytest.raises(ApiError):
        check_order([*asked, *turns("a")])


@pytest.mark.parametrize(
    ("roles", "code", "words"),
    [
        ("ua", "3230", "Expected last role User or Tool"),
        ("us", "3230", "Expected last role User or Tool"),
        ("uctu", "3230", "'user' after role 'tool' (message 3)"),
        ("ut", "3230", "'tool' after role 'user' (message 1)"),
        ("t", "3230", "'tool' after role 'none' (message 0)"),
        ("upu", "3230", "Only the last message may have prefix true (message 1)"),
        ("ueu", "3240", "either content or tool_calls"),
    ],
)
def test_orders_that_cannot(roles: str, code: str, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_order(turns(roles))
    assert (caught.value.status, caught.value.code) == (400, code)
    assert words in caught.value.message


@pytest.mark.parametrize("id", ["abc", "abc123XY-", "abc123XYZ0"])
def test_ids_of_calls_have_nine_letters_and_digits(id: str) -> None:
    asked = {"role": "user", "content": "x"}
    calling = {"role": "assistant", "tool_calls": [{**CALL, "id": id}]}
    answered = {"role": "tool", "content": "x", "tool_call_id": id}
    for given in ([asked, calling, answered], [asked, turns("c")[0].body(), answered]):
        with pytest.raises(ApiError) as caught:
            check_order(messages(*given))
        assert caught.value.code == "3280"


def test_the_last_question_is_the_user_s_text() -> None:
    chunks = [{"type": "text", "text": "What"}, {"type": "image_url", "image_url": "x"}]
    given = [*messages({"role": "user", "content": chunks}), *turns("ct")]
    assert last_question(given) == "What"
    assert last_question(turns("p")) == ""


async def test_chunks_of_text_become_one_text() -> None:
    chunks = [
        {"type": "text", "text": "one"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "two"},
    ]
    chat = await as_chat(messages({"role": "user", "content": chunks}), PLAIN, read_nothing)
    assert chat == [{"role": "user", "content": "one\ntwo"}]


def test_a_file_part_of_the_chat_dialect_is_a_document() -> None:
    data = "data:text/plain;base64,SGk="
    parts = [
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "file", "file": {"file_data": data, "filename": "hi.txt"}},
    ]
    [message] = MESSAGES.validate_python([{"role": "user", "content": parts}])
    assert isinstance(message.content, list)
    stored, sent = message.content
    assert stored == FileChunk(file_id="f")
    assert sent == DocumentURLChunk(document_url=data, document_name="hi.txt")


async def test_documents_are_read() -> None:
    async def read(chunk: Brought) -> str:
        assert not isinstance(chunk, ImageURLChunk)
        return f"text of {chunk.file_id if isinstance(chunk, FileChunk) else chunk.document_url}"

    chunks = [
        {"type": "file", "file_id": "f1"},
        {"type": "document_url", "document_url": "https://x/y.pdf"},
    ]
    chat = await as_chat(messages({"role": "user", "content": chunks}), PLAIN, read)
    assert chat[0]["content"] == "text of f1\n\ntext of https://x/y.pdf\n"


async def test_images_go_only_where_they_are_seen() -> None:
    chunks = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": "data:x"}]
    given = messages({"role": "user", "content": chunks})
    with pytest.raises(ApiError, match="cannot see images"):
        await as_chat(given, PLAIN, read_nothing)

    async def read(chunk: Brought) -> str:
        assert isinstance(chunk, ImageURLChunk)
        return f"{chunk.url},read"

    chat = await as_chat(given, Abilities(images=True), read)
    assert chat[0]["content"] == [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": "data:x,read"}},
    ]


async def test_audio_is_refused() -> None:
    chunks = [{"type": "input_audio", "input_audio": "x"}]
    with pytest.raises(ApiError, match="cannot hear audio"):
        await as_chat(messages({"role": "user", "content": chunks}), PLAIN, read_nothing)


async def test_calls_travel_as_such_where_the_template_has_a_place() -> None:
    _, call, result = await as_chat(turns("uct"), Abilities(tools=True), read_nothing)
    assert call["tool_calls"] == [
        {
            "id": "abc123XYZ",
            "type": "function",
            "function": {"name": "add", "arguments": '{"a": 1}'},
        }
    ]
    assert (result["role"], result["tool_call_id"], result["name"]) == ("tool", "abc123XYZ", "add")


async def test_calls_are_told_in_words_elsewhere() -> None:
    _, call, result = await as_chat(turns("uct"), PLAIN, read_nothing)
    assert call == {"role": "assistant", "content": 'I call add with {"a": 1}.'}
    assert result["role"] == "user"
    assert result["content"].startswith("The result of add is: x")
