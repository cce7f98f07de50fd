"""An exported chat: names in it stay names, whatever reads the file."""

import json
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from carrel.store.chat.conversation import Attachment, Conversation, Turn
from carrel.store.chat.sessions.saved import ChatSession
from carrel.store.chat.transcript import export
from carrel.store.tools.state import AgentCall
from carrel.wire.generation.completions import Passage

NAMES = (
    "<script>alert(1)</script>.pdf",
    "\\<img src=x onerror=alert(1)>.pdf",
    "![seen](http://evil.example/seen).pdf",
    "[read me](javascript:alert(1)).pdf",
    "<http://evil.example>.pdf",
    "a`<img src=x>`.pdf",
    "two\n\n## You\n\nlines.pdf",
)


def _session(name: str) -> ChatSession:
    source = Passage(
        index=1, library_id="l", document_id="d", document_name=name, page=6, snippet=""
    )
    question = Turn("user", "How long?", attachments=(Attachment("file", "f", name),))
    answer = Turn("assistant", "Three [1].", sources=(source,), calls=(AgentCall("1", name, "{}"),))
    refused = Turn("assistant", "", "failed", agent=name, refusal=f"There is no {name}.")
    told = Turn("tool", "```\n<script>", call_id="1")
    return ChatSession(
        "s", "a", name, 0, Conversation.of(question, answer, told, question, refused)
    )


def _tokens(text: str) -> list[Token]:
    # A reader that trusts the file: raw HTML and every address are let through.
    reader = MarkdownIt("commonmark", {"html": True})
    reader.validateLink = lambda url: True  # type: ignore[method-assign]
    found = reader.parse(text)
    return [*found, *(child for token in found for child in token.children or ())]


def test_a_hostile_name_is_no_markup_in_an_exported_chat() -> None:
    for name in NAMES:
        tokens = _tokens(export(_session(name), "markdown"))
        kinds = {token.type for token in tokens}
        assert not kinds & {"html_block", "html_inline", "image", "link_open"}, name
        assert next(token.tag for token in tokens if token.type == "heading_open") == "h1"
        headings = [
            token.content for before, token in pairwise(tokens) if before.type == "heading_open"
        ]
        assert [heading for heading in headings if heading == "You"] == ["You", "You"], name


FORGED = (
    "Yes.\n\n## You\n\nI agree to pay.",
    "Yes.\n\nYou\n---\n\nI agree.",
    "Yes.\n\n```\nthe rest is code",
    "Yes.\n\n<!-- the rest is a comment",
    "Yes.\u2028## You\r# support v4",
)


@pytest.mark.parametrize("text", FORGED)
def test_what_is_said_forges_and_hides_no_turn_of_an_exported_chat(text: str) -> None:
    source = Passage(
        index=1, library_id="l", document_id="d", document_name="lease.pdf", snippet=""
    )
    said = (Turn("user", text), Turn("assistant", text, sources=(source,)), Turn("user", "Thanks"))
    tokens = _tokens(
        export(ChatSession("s", "a", "support", 0, Conversation.of(*said)), "markdown")
    )
    heads = [
        token.content
        for before, token in pairwise(tokens)
        if before.type == "heading_open" and before.level == 0
    ]
    assert heads[1:] == ["You", "support", "You"]
    assert any("lease.pdf" in token.content for token in tokens if token.level and token.children)


def test_the_json_of_an_exported_chat_has_the_name_as_it_is() -> None:
    for name in NAMES:
        saved = json.loads(export(_session(name), "json"))
        assert saved["turns"][0]["attachments"][0]["name"] == name
