"""Signed addresses, which work without a key until they expire."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from carrel.system.atomic import write_private

Kind = Literal["file", "document", "text"]
PREFIX = "/signed/"
MAX_SECONDS = 7 * 24 * 3600
ROTATION_SECONDS = 30 * 24 * 3600
"""Time that a key signs; it is then kept for MAX_SECONDS, until its last address has expired."""
_KEY_ID = re.compile(rb'\["([0-9a-f]{8})",')


class BadSignature(Exception):
    """The address was changed, was made with another key, or has expired."""


class Signed(NamedTuple):
    """The target of a signed address: a file, a document, or a document's text."""

    kind: Kind
    id: str


class SigningKeys:
    """The signing keys, in a file that only its owner may read.

    A new key is made every thirty days; an old one is kept until no address signed with it can
    still be valid. Without the file, no earlier address works.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._keys = [_Key(*key) for key in json.loads(path.read_text())] if path.exists() else []

    def current(self) -> tuple[str, bytes]:
        """Return the id of the key to sign with, and the key."""
        now = self._clock()
        if not self._keys or now - self._keys[-1].made >= ROTATION_SECONDS:
            kept = [key for key in self._keys if now - key.made < ROTATION_SECONDS + MAX_SECONDS]
            self._keys = [*kept, _Key(secrets.token_hex(4), secrets.token_hex(32), int(now))]
            write_private(self._path, json.dumps(self._keys))
        newest = self._keys[-1]
        return newest.id, bytes.fromhex(newest.key)

    def get(self, id: str) -> bytes | None:
        """Return the key of an id, or None if it is not kept any more."""
        found = next((key.key for key in self._keys if key.id == id), None)
        return None if found is None else bytes.fromhex(found)


class DerivedKeys:
    """The signing keys of servers that share a secret: one for each period of thirty days."""

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock

    def current(self) -> tuple[str, bytes]:
        """Return the id of the key to sign with, and the key."""
        period = int(self._clock() // ROTATION_SECONDS)
        return f"{period:08x}", self._derive(period)

    def get(self, id: str) -> bytes | None:
        """Return the key of an id, or None for an unknown id."""
        return self._derive(int(id, 16)) if id else None

    def _derive(self, period: int) -> bytes:
        return hmac.digest(self._secret, f"signed addresses {period}".encode(), "sha256")


class _Key(NamedTuple):
    id: str
    key: str
    made: int


class Signer:
    """Makes and checks signed addresses, for GET and HEAD.

    The signature excludes the host, so that an address survives a proxy.
    """

    def __init__(
        self, keys: SigningKeys | DerivedKeys, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = keys
        self._clock = clock

    def url(self, base_url: str, kind: Kind, object_id: str, seconds: int) -> str:
        """Return an address below `base_url` that expires after `seconds`, at most seven days."""
        if not 0 < seconds <= MAX_SECONDS:
            raise ValueError(f"a signed address lives for 1 to {MAX_SECONDS} seconds")
        key_id, key = self._keys.current()
        expires = int(self._clock()) + seconds
        payload = json.dumps([key_id, kind, object_id, expires], separators=(",", ":")).encode()
        token = f"{_encode(payload)}.{_encode(_mac(key, payload))}"
        return base_url.rstrip("/") + PREFIX + token

    def verify(self, token: str) -> Signed:
        """Return the target of an address's token.

        Raises:
            BadSignature: the token is forged or expired.
        """
        encoded, _, mac = token.partition(".")
        payload = _decode(encoded)
        # The signature is checked before the payload is parsed.
        key = self._keys.get(_key_id(payload))
        if key is None or not hmac.compare_digest(_decode(mac), _mac(key, payload)):
            raise BadSignature
        _, kind, object_id, expires = json.loads(payload)
        if kind not in get_args(Kind) or self._clock() >= expires:
            raise BadSignature
        return Signed(kind, object_id)


def _key_id(payload: bytes) -> str:
    found = _KEY_ID.match(payload)
    return found[1].decode() if found else ""


def _mac(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, b"1|GET|" + payload, hashlib.sha256)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature from None
    # Canonical base64 only: stray bits at the end would allow a second spelling.
    if _encode(data) != text:
        raise BadSignature
    return data
