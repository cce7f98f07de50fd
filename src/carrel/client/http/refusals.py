"""Error responses in plain English."""

import json
import re
import socket
import ssl
import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpx

from carrel.client.http.errors import Invalid, NotFound, ServiceError, Unauthorized
from carrel.text import clean_json

_LONGEST = 500
"""Maximum characters of a service's own message."""
_LONGEST_ID = 100
"""Letters of a shown request id."""
_UNUSUAL = re.compile(r"[^\w.:-]", re.ASCII)


def refusal(response: httpx.Response, body: bytes, key: str) -> ServiceError:
    """Return the error of an unsuccessful response. Its message never contains the key."""
    error = _refusal(response, body, key)
    error.retry_after = _retry_after(response.headers.get("retry-after", ""))
    return error


def request_id_of(response: httpx.Response) -> str:
    """Return the id of a request in the service's log, or an empty string."""
    headers = response.headers
    return _clean_id(headers.get("x-request-id") or headers.get("mistral-correlation-id"))


def _clean_id(value: object) -> str:
    return _UNUSUAL.sub("", _text(value) or "")[:_LONGEST_ID]


def _refusal(response: httpx.Response, body: bytes, key: str) -> ServiceError:
    parsed = _parse(body)
    own = _own_words(parsed)
    if key:
        own = own.replace(key, "…")
    code = parsed.get("code")
    request_id = request_id_of(response) or _clean_id(parsed.get("request_id")) or None
    kind: type[ServiceError] = ServiceError
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        kind = Unauthorized
    elif response.status_code == HTTPStatus.NOT_FOUND:
        kind = NotFound
    elif response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        fields = _fields(parsed, key)
        if fields:
            own = "; ".join(f"{name}: {wrong}" if name else wrong for name, wrong in fields)
        message = f"The service did not accept this: {own or 'it does not say why'}"
        return Invalid(_sentence(message), response.status_code, _text(code), request_id, fields)
    return kind(_sentence(_message(response, own)), response.status_code, _text(code), request_id)


def connection_reason(host: str, error: httpx.ConnectError) -> str:
    """Return the reason a connection failed, and the next step."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return f"There is no host {host}. Check the address and the network."
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of {host} is not trusted: {cause.verify_message}."
        if isinstance(cause, ssl.SSLError):
            return f"{host} does not speak https. Check the address."
        cause = cause.__cause__ or cause.__context__
    return f"No server answers at {host}. Check the address, and that it is running."


def _message(response: httpx.Response, own: str) -> str:
    status = response.status_code
    host = response.request.url.netloc.decode("ascii")
    if response.is_redirect:
        return (
            f"{host} points to another address, which is not followed because the key stays "
            "with its own. Set the final address in the profile."
        )
    if status == HTTPStatus.UNAUTHORIZED:
        return (
            f"{host} did not accept the API key: it may be wrong, revoked or at its end. "
            "Set another with carrel profiles add, or in CARREL_API_KEY if CARREL_URL is set."
        )
    if status == HTTPStatus.NOT_FOUND and own in ("", "Not Found"):
        return f"{host} has nothing at {response.request.url.path}."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = response.headers.get("retry-after", "")
        pause = f"in {wait} s" if wait.isascii() and wait.isdigit() else "a little later"
        return f"The service asks to slow down. Try again {pause}."
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and not own:
        return "This is larger than the service accepts."
    if own:
        return own
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"{host} failed with status {status}. Try again; if it stays, see the server's log."
    return f"{host} refused with status {status}."


def _parse(body: bytes) -> dict[str, Any]:
    try:
        parsed = clean_json(json.loads(body))
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _own_words(parsed: dict[str, Any]) -> str:
    inner = parsed.get("error")
    candidates = [parsed.get("message"), parsed.get("detail"), inner]
    if isinstance(inner, dict):
        candidates.append(inner.get("message"))
    words = next((text for text in candidates if isinstance(text, str) and text.strip()), "")
    return words.strip()[:_LONGEST]


def _fields(parsed: dict[str, Any], key: str) -> tuple[tuple[str, str], ...]:
    detail = parsed.get("detail")
    fields = []
    for item in detail if isinstance(detail, list) else []:
        if not isinstance(item, dict):
            continue
        loc = item.get("loc")
        where = ".".join(str(part) for part in loc[1:]) if isinstance(loc, list) else ""
        wrong = str(item.get("msg", ""))[:_LONGEST]
        fields.append((where, wrong.replace(key, "…") if key else wrong))
    return tuple(fields)


def _retry_after(text: str) -> float | None:
    """Return the seconds of a Retry-After header, given as a number or a date."""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, (str, int)) else None
