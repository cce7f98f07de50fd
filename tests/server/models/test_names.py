"""Which names of models are a vendor's."""

import pytest

from carrel.server.models.names import (
    CHAT_NAMES,
    is_chat_name,
    is_embedding_name,
    is_ocr_name,
)


@pytest.mark.parametrize(
    "name",
    [
        *CHAT_NAMES,
        *("mistral-small-2506", "mistral-large-2411", "ministral-8b-2410", "open-mistral-7b"),
        *("open-mixtral-8x22b", "codestral-2501", "codestral-mamba-latest", "pixtral-12b-2409"),
        *("magistral-medium-2509", "devstral-medium-2507", "mistral-vibe-cli-latest"),
        *("gpt-4o", "gpt-4.1-mini", "gpt-4o-2024-08-06", "gpt-5", "o3-mini", "chatgpt-4o-latest"),
    ],
)
def test_a_chat_model_of_a_vendor_is_known_with_and_without_a_date(name: str) -> None:
    assert is_chat_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "smollm2", "mistral", "mistral-", "mistral-embed", "mistral-embed-2312"),
        *("mistral-ocr-latest", "mistral-moderation-latest", "mistral-small audio", "o-ring"),
        *("gpt-4o-transcribe", "gpt-4o-mini-tts", "gpt-4o-realtime-preview", "my-mistral-small"),
        *("mistral-small/../x", "mistral-small-2506\n", "text-embedding-3-small"),
    ],
)
def test_any_other_name_is_not(name: str) -> None:
    assert not is_chat_name(name)


def test_models_that_read_documents_have_names_of_their_own() -> None:
    for name in ("mistral-ocr-latest", "mistral-ocr-2505", "mistral-ocr"):
        assert is_ocr_name(name)
    for name in ("m", "mistral-small-latest", "gpt-4o", "ocr"):
        assert not is_ocr_name(name)


def test_embedding_models_have_names_of_their_own() -> None:
    for name in ("mistral-embed", "mistral-embed-2312", "codestral-embed-2505", "text-embedding-3"):
        assert is_embedding_name(name)
    for name in ("mistral-small-latest", "mistral-embedded", "text-embeddings", "embed"):
        assert not is_embedding_name(name)
