"""The language model, at addresses or embedded."""

import asyncio

import httpx

from carrel.server.doctor.findings import ANSWER_SECONDS, Finding, failed, ok, why
from carrel.server.settings import ServerSettings


async def check_model(settings: ServerSettings) -> list[Finding]:
    """Whether each address of a model answers, or the embedded model is there."""
    if not settings.model_url:
        return await asyncio.to_thread(_embedded, settings)
    keys = settings.model_key or ("",)
    keys = keys * len(settings.model_url) if len(keys) == 1 else keys
    addresses = zip(settings.model_url, keys, strict=True)
    return [await _address(settings, url.rstrip("/"), key) for url, key in addresses]


async def _address(settings: ServerSettings, base: str, key: str) -> Finding:
    part = "model"
    try:
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as http:
            headers = {"authorization": f"Bearer {key}"} if key else {}
            answer = await http.get(f"{base}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        advice = "Start the model's server, or correct --model-url or model_url."
        return failed(part, f"{base} does not answer: {why(error)}", advice)
    if answer.status_code in (401, 403):
        return failed(part, f"{base} refuses the key", "Set CARREL_MODEL_KEY or model_key.")
    try:
        names = [str(card["id"]) for card in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        said = f"{base}/models is no list of models ({answer.status_code})"
        return failed(part, said, "An OpenAI-compatible address usually ends with /v1.")
    if not names:
        return failed(part, f"{base} has no model", "Load one there, such as: ollama pull NAME")
    if settings.model_name and settings.model_name not in names:
        said = f"{base} does not list {settings.model_name}, but {', '.join(names[:5])}"
        return failed(part, said, "Correct model_name, or load that model.")
    return ok(part, f"{base}: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}")


def _embedded(settings: ServerSettings) -> list[Finding]:
    from importlib.util import find_spec

    from carrel.server.errors import ApiError
    from carrel.server.models.weights import built_in_weights

    part = "model"
    if find_spec("xllamacpp") is None:
        advice = "pip install 'carrel[server]', or use --model-url."
        return [failed(part, "the embedded engine is not installed", advice)]
    path = settings.model_path
    try:
        path = path or built_in_weights()
    except ApiError as error:
        return [failed(part, "the built-in model is missing", error.message)]
    try:
        with path.open("rb") as file:
            whole = file.read(4) == b"GGUF"
    except OSError as error:
        return [failed(part, f"{path}: {why(error)}", "Correct --model or model_path.")]
    if not whole:
        return [failed(part, f"{path} is no GGUF model", "Correct --model or model_path.")]
    return [ok(part, f"{path.name}, embedded, {path.stat().st_size / 1e6:,.0f} MB")]
