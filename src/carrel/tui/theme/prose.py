"""Markdown styles in a theme's colours; a module of its own, because the first paint needs no
Markdown."""

import re

from rich.theme import Theme


def prose_theme(variables: dict[str, str]) -> Theme:
    """Return the styles for Prose from a theme's colours that are plain `#rrggbb`."""

    def colour(role: str) -> str:
        value = variables.get(role, "")
        return value if re.fullmatch(r"#[0-9A-Fa-f]{6}", value) else "default"

    accent, muted, line = colour("accent"), colour("muted"), colour("line")
    return Theme(
        {
            "markdown.h1": f"bold {accent}",
            "markdown.h2": "bold underline",
            "markdown.h3": "bold",
            "markdown.h4": "bold italic",
            "markdown.h5": "bold italic",
            "markdown.h6": "bold italic",
            "markdown.code": colour("busy"),
            "markdown.code_block": colour("foreground"),
            "markdown.link": colour("busy"),
            "markdown.link_url": muted,
            "markdown.item.bullet": accent,
            "markdown.item.number": accent,
            "markdown.hr": line,
            "markdown.block_quote": muted,
            "markdown.table.border": line,
            "markdown.table.header": "bold",
            "markdown.image": muted,
            "carrel.you": f"bold {colour('speaker')}",
            "carrel.agent": f"bold {accent}",
            "carrel.muted": muted,
            "carrel.failed": colour("error"),
            "carrel.source": colour("busy"),
        }
    )
