"""The language model, at addresses or embedded."""

import asyncio

import httpx

from carrel.server.admin.doctor.findings import ANSWER_SECONDS, Finding, failure, ok, reason_of
from carrel.server.settings import ServerSettings


async def check_model(settings: ServerSettings) -> list[Finding]:
    """Check whether each address of a model answers, or the embedded model is there."""
    if not settings.model_url:
        return await asyncio.to_thread(_check_built_in, settings)
    keys = settings.model_key or ("",)
    keys = keys * len(settings.model_url) if len(keys) == 1 else keys
    addresses = zip(settings.model_url, keys, strict=True)
    names = ("--model-url or model_url", "CARREL_MODEL_KEY or model_key", "model_name")
    return [
        await _address("model", names, url.rstrip("/"), key, settings.model_name)
        for url, key in addresses
    ]


async def check_vision_model(settings: ServerSettings) -> list[Finding]:
    """Check whether the address of the vision model lists it, if one is set."""
    vision = settings.vision
    if vision is None:
        return []
    names, url = ("ocr_url", "CARREL_OCR_KEY or ocr_key", "ocr_model"), vision.url.rstrip("/")
    return [await _address("OCR model", names, url, vision.key or "", vision.name)]


async def _address(
    part: str, settings: tuple[str, str, str], base: str, key: str, model: str | None
) -> Finding:
    """Check whether an address lists its model; `settings` name its address, key and model."""
    set_url, set_key, set_model = settings
    try:
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as http:
            headers = {"authorization": f"Bearer {key}"} if key else {}
            answer = await http.get(f"{base}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        advice = f"Start the model's server, or correct {set_url}."
        return failure(part, f"{base} does not answer: {reason_of(error)}", advice)
    if answer.status_code in (401, 403):
        return failure(part, f"{base} refuses the key", f"Set {set_key}.")
    try:
        names = [str(card["id"]) for card in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        said = f"{base}/models is no list of models ({answer.status_code})"
        return failure(part, said, "An OpenAI-compatible address usually ends with /v1.")
    if not names:
        return failure(part, f"{base} has no model", "Load one there, such as: ollama pull NAME")
    if model and model not in names:
        said = f"{base} does not list {model}, but {', '.join(names[:5])}"
        return failure(part, said, f"Correct {set_model}, or load that model.")
    return ok(part, f"{base}: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}")


def _check_built_in(settings: ServerSettings) -> list[Finding]:
    from importlib.util import find_spec

    from carrel.server.errors import ApiError
    from carrel.server.models.weights import built_in_weights

    part = "model"
    if find_spec("xllamacpp") is None:
        advice = "pip install 'carrel[server]', or use --model-url."
        return [failure(part, "the embedded engine is not installed", advice)]
    path = settings.model_path
    try:
        path = path or built_in_weights()
    except ApiError as error:
        return [failure(part, "the built-in model is missing", error.message)]
    try:
        with path.open("rb") as file:
            whole = file.read(4) == b"GGUF"
    except OSError as error:
        return [failure(part, f"{path}: {reason_of(error)}", "Correct --model or model_path.")]
    if not whole:
        return [failure(part, f"{path} is no GGUF model", "Correct --model or model_path.")]
    return [ok(part, f"{path.name}, embedded, {path.stat().st_size / 1e6:,.0f} MB")]
