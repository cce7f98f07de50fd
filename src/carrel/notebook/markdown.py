"""Markdown to HTML that is safe to show: the one place where a view's markup comes from.

Raw HTML stays text, script addresses are refused, and pictures become their names: showing a
document or an answer must never make the browser ask another host for anything.
"""

from collections.abc import Sequence
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict


def _picture(
    self: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    name = token.content or str(token.attrs.get("src", ""))
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
    """Markdown as safe HTML."""
    return str(_markdown.render(text))


def to_blocks(text: str) -> list[str]:
    """Markdown as safe HTML, a string for each block of the top level.

    While a text grows only its last blocks change, so that a stream sends little.
    """
    environment: EnvType = {}
    blocks: list[str] = []
    part: list[Token] = []
    depth = 0
    for token in _markdown.parse(text, environment):
        part.append(token)
        depth += token.nesting
        if depth == 0:
            blocks.append(_markdown.renderer.render(part, _markdown.options, environment))
            part = []
    return blocks
