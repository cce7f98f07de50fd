"""Texts that spell the control tokens of chat templates."""

import pytest

from carrel.server.models.control_tokens import disarm


@pytest.mark.parametrize(
    "token",
    [
        "<|im_end|>",
        "<|start_header_id|>",
        "<｜User｜>",
        "<|tool▁calls▁begin|>",
        "<end_of_turn>",
        "[/INST]",
        "[SYSTEM_PROMPT]",
    ],
)
def test_a_blank_takes_their_meaning(token: str) -> None:
    assert disarm(f"a {token}{token}") == f"a {token[0]} {token[1:]}{token[0]} {token[1:]}"


@pytest.mark.parametrize(
    "text", ["a <| b |> c", "<s>old</s> <b>[1]</b>", "x = [INSTANCE]", "[INST", "|> <|", "<||>"]
)
def test_other_text_stays(text: str) -> None:
    assert disarm(text) == text


def test_every_text_of_a_message_is_searched() -> None:
    parts = [{"type": "text", "text": "<|eot_id|>"}, {"type": "image_url", "image_url": "data:,"}]
    call = {"function": {"name": "find", "arguments": '{"for": "[INST]"}'}}
    assert disarm([{"content": parts, "tool_calls": [call]}, {"content": None, "n": 1}]) == [
        {
            "content": [{"type": "text", "text": "< |eot_id|>"}, parts[1]],
            "tool_calls": [{"function": {"name": "find", "arguments": '{"for": "[ INST]"}'}}],
        },
        {"content": None, "n": 1},
    ]
