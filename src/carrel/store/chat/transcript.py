"""Exports a chat: Markdown as shown, or JSON with every variant."""

import json
import re
from typing import Literal

from carrel.store.agents.formatting import version_name
from carrel.store.chat.conversation import Turn
from carrel.store.chat.formatting import end_note, figures, source_words
from carrel.store.chat.sessions.saved import ChatSession, to_json
from carrel.store.core.formatting import one_line

ChatFormat = Literal["markdown", "json"]

_MARKUP = re.compile(r"\\|<|(?<=\])\(")
"""Begins raw HTML, or an address of a link or a picture, in Markdown."""


def export(session: ChatSession, form: ChatFormat) -> str:
    """Return the whole chat as text."""
    if form == "json":
        return json.dumps(to_json(session), ensure_ascii=False, indent=2) + "\n"
    parts = [f"# {_plain(session.title or session.agent_name)}"]
    for turn in session.conversation.turns:
        parts += _turn(session, turn)
    return "\n\n".join(parts) + "\n"


def _turn(session: ChatSession, turn: Turn) -> list[str]:
    if turn.role == "user":
        names = ", ".join(_plain(attachment.name) for attachment in turn.attachments)
        return ["## You", _quote(turn.text), *([f"Attached: {names}"] if names else [])]
    if turn.role == "tool":
        return ["## Result", _fence(turn.text)]
    who = f"{_plain(turn.agent or session.agent_name)} {version_name(turn.version)}".strip()
    told = figures(turn)
    parts = [f"## {who}" + (f" ({told})" if told else "")]
    parts += [_quote(turn.text)] if turn.text else []
    parts += [f"Calls {_plain(call.name)}:\n\n{_fence(call.arguments)}" for call in turn.calls]
    parts += [f"*{_plain(note)}*"] if (note := end_note(turn)) else []
    parts += ["\n".join(f"- {_plain(source_words(source))}" for source in turn.sources)]
    return [part for part in parts if part]


def _plain(text: str) -> str:
    """Return a name as Markdown that shows it and nothing else."""
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def _quote(text: str) -> str:
    """Return a text as a quotation that no heading or open fence in it ends."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _fence(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
