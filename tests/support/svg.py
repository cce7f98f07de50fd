"""Pictures of terminal screens that refer to nothing outside themselves."""

import re

_ELSEWHERE = re.compile(r"\s*@font-face \{[^}]*\}|\s*<!--.*?-->")


def self_contained(svg: str) -> str:
    """Rich's drawing without the addresses of fonts and of Rich."""
    return _ELSEWHERE.sub("", svg).replace("Fira Code, monospace", "monospace")
