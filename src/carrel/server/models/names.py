"""Vendors' model names, which clients of hosted services send."""

import re

CHAT_NAMES = (
    "mistral-small-latest",
    "mistral-medium-latest",
    "mistral-large-latest",
    "ministral-3b-latest",
    "ministral-8b-latest",
    "magistral-medium-latest",
    "codestral-latest",
    "devstral-small-latest",
    "open-mistral-nemo",
)
"""The names that are listed as aliases of the default model; `is_chat_name` knows more."""
EMBEDDING_NAMES = ("mistral-embed",)
"""The names that are listed as aliases of the embedding model."""
OCR_NAMES = ("mistral-ocr-latest",)
"""The names that are listed as aliases of the OCR model; `is_ocr_name` knows more."""

_FAMILIES = "open-mistral|open-mixtral|mistral|ministral|magistral|codestral|devstral|pixtral"
_CHAT = re.compile(
    rf"(?:(?:{_FAMILIES})-(?:tiny|small|medium|large|nemo|saba|vibe|[0-9]|latest)|codestral-mamba"
    r"|(?:chatgpt|gpt)-[3-9]|o[1-9](?:-|$))"
    r"(?!.*(?:audio|embed|image|instruct|moderation|ocr|realtime|search|transcribe|tts))[\w.:-]*"
)
_EMBEDDING = re.compile(r"(?:(?:mistral|codestral)-embed|text-embedding)(?:-[\w.:-]+)?")

_OCR = re.compile(r"mistral-ocr(?:-[\w.:-]+)?")


def is_chat_name(name: str) -> bool:
    """Return whether a vendor has a chat model of this name, dated or not."""
    return _CHAT.fullmatch(name) is not None


def is_ocr_name(name: str) -> bool:
    """Return whether a vendor has an OCR model of this name, dated or not."""
    return _OCR.fullmatch(name) is not None


def is_embedding_name(name: str) -> bool:
    """Return whether a vendor has an embedding model of this name, dated or not."""
    return _EMBEDDING.fullmatch(name) is not None
