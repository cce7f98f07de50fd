"""Addresses that carry their own access: they work without a key until they expire."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

Kind = Literal["file", "document", "text"]
PREFIX = "/signed/"
MAX_SECONDS = 7 * 24 * 3600


class BadSignature(Exception):
    """The address was changed, was made with another key, or has expired."""


class Signed(NamedTuple):
    """What a signed address gives access to: a file, a document, or a document's text."""

    kind: Kind
    id: str


class Signer:
    """Makes and checks signed addresses.

    The host is no part of the signature, so that an address survives a proxy.
    """

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._key = hmac.digest(secret, b"signed addresses", "sha256")
        self._clock = clock

    def url(self, base_url: str, kind: Kind, object_id: str, seconds: int) -> str:
        """An address below `base_url` that works for so many seconds, at most seven days."""
        if not 0 < seconds <= MAX_SECONDS:
            raise ValueError(f"a signed address lives for 1 to {MAX_SECONDS} seconds")
        payload = json.dumps(
            [kind, object_id, int(self._clock()) + seconds], separators=(",", ":")
        ).encode()
        token = f"{_encode(payload)}.{_encode(self._mac(payload))}"
        return base_url.rstrip("/") + PREFIX + token

    def verify(self, token: str) -> Signed:
        """What the token of an address gives access to.

        Raises:
            BadSignature: nothing; the token is not ours, or no longer valid.
        """
        encoded, _, mac = token.partition(".")
        payload = _decode(encoded)
        if not hmac.compare_digest(_decode(mac), self._mac(payload)):
            raise BadSignature
        kind, object_id, expires = json.loads(payload)
        if kind not in get_args(Kind) or self._clock() >= expires:
            raise BadSignature
        return Signed(kind, object_id)

    def _mac(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, b"1|" + payload, hashlib.sha256)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature from None
    # One spelling only: stray bits at the end would be a second address for the same thing.
    if _encode(data) != text:
        raise BadSignature
    return data
