"""Rendering of Markdown as safe HTML; the only source of markup in views.

Raw HTML stays text, script URLs are refused, and pictures become their names: rendering a
document or an answer must never make the browser contact another host.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from carrel.store.core.formatting import picture_words, raise_notes
from carrel.store.documents.marks import MarkRole, runs, unmark

# The renderer writes ">" only at the end of a tag.
_TAG = re.compile(r"(<[^>]*>)")


def to_marked_html(markdown: str) -> str:
    """Return Markdown as safe HTML, with each marked range in a `mark` element classed by its
    role."""
    parts: list[str] = []
    role: MarkRole | None = None
    for part in _TAG.split(to_html(markdown)):
        if part.startswith("<"):
            parts.append(unmark(part))
            continue
        for piece, is_now in runs(part, role):
            role = is_now
            shown = role and piece.strip()
            parts.append(f'<mark class="{role}">{piece}</mark>' if shown else piece)
    return "".join(parts)


def _picture(
    self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    name = picture_words(token.content or str(token.attrs.get("src", "")))
    return f'<span class="carrel-picture">{escape(name)}</span>'


def _link(
    self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    address = escape(str(tokens[index].attrs.get("href", "")))
    return f'<a href="{address}" target="_blank" rel="noopener noreferrer">'


_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.add_render_rule("image", _picture)
_markdown.add_render_rule("link_open", _link)


@lru_cache(maxsize=1024)
def to_html(text: str) -> str:
    """Return Markdown as safe HTML."""
    return str(_markdown.render(raise_notes(text)))


def typed_to_html(text: str) -> str:
    """Return a text that was typed as safe HTML, with its line breaks."""
    return f"<p>{escape(text).replace(chr(10), '<br>')}</p>"


def to_blocks(text: str) -> list[str]:
    """Return Markdown as safe HTML, one string per top-level block."""
    return [html for _, html in _placed_blocks(text)]


class GrowingText:
    """The blocks of a growing text; each update parses only from the last block on."""

    def __init__(self) -> None:
        self._settled: list[str] = []
        self._at = 0

    def blocks(self, text: str) -> list[str]:
        """Return the blocks of the text, which extends the previous one."""
        tail = text[self._at :]
        found = _placed_blocks(tail)
        lines = tail.split("\n")
        # An unfinished line may belong to the previous block.
        if len(found) > 1 and found[-1][0] + 1 < len(lines):
            self._settled += (html for _, html in found[:-1])
            self._at += sum(len(line) + 1 for line in lines[: found[-1][0]])
            found = found[-1:]
        return [*self._settled, *(html for _, html in found)]


def _placed_blocks(text: str) -> list[tuple[int, str]]:
    """Return the top-level blocks, each with the line it starts at, from 0."""
    environment: EnvType = {}
    blocks: list[tuple[int, str]] = []
    part: list[Token] = []
    depth = 0
    for token in _markdown.parse(raise_notes(text), environment):
        part.append(token)
        depth += token.nesting
        if depth == 0:
            line = part[0].map[0] if part[0].map else 0
            blocks.append((line, _markdown.renderer.render(part, _markdown.options, environment)))
            part = []
    return blocks


def fold_thinking(words: str, thinking: str) -> str:
    """Return a model's thinking as a folded element, or an empty string."""
    if not thinking:
        return ""
    return f"<details><summary>{escape(words)}</summary>{to_html(thinking)}</details>"
