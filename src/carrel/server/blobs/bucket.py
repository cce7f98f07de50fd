"""An S3-compatible store: its address, our credentials, and the addresses we sign.

obstore cannot add a query to a signed address, check one, or list unfinished uploads. Downloads
need the query for their name and type, requests with our own addresses need the check, the
collector needs the list: so addresses are signed here. obstore signs the requests that it makes
itself.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_ALGORITHM = "AWS4-HMAC-SHA256"
_REGION = "us-east-1"


@dataclass(frozen=True)
class Bucket:
    """A bucket, and the part of it below `prefix`, which is empty or ends with a slash."""

    name: str
    prefix: str
    endpoint: str
    region: str
    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(repr=False)

    @classmethod
    def of(cls, url: str, environment: Mapping[str, str]) -> Self:
        """Return the bucket of `s3://bucket/prefix`; AWS_* variables give endpoint and credentials.

        Raises:
            ValueError: the address is invalid, or credentials are missing; fit to be shown.
        """
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
            raise ValueError(f"{url} is not an address such as s3://bucket/prefix.")
        access_key = environment.get("AWS_ACCESS_KEY_ID")
        secret_key = environment.get("AWS_SECRET_ACCESS_KEY")
        if not access_key or not secret_key:
            raise ValueError(
                f"{url} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment."
            )
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or _REGION
        endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
        prefix = parts.path.strip("/")
        return cls(
            name=parts.netloc,
            prefix=f"{prefix}/" if prefix else "",
            endpoint=(endpoint or f"https://s3.{region}.amazonaws.com").rstrip("/"),
            region=region,
            access_key=access_key,
            secret_key=secret_key,
            session_token=environment.get("AWS_SESSION_TOKEN") or None,
        )

    def __str__(self) -> str:
        return f"s3://{self.name}/{self.prefix} at {self.endpoint}"

    def sign(
        self,
        method: str,
        key: str,
        seconds: int,
        query: Mapping[str, str] | None = None,
        now: datetime | None = None,
    ) -> str:
        """Return the address of a key, or of the bucket where it is empty, for one method.

        It expires after `seconds`, at most seven days. `query` is part of it.
        """
        stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/{self.region}/s3/aws4_request"
        fields = {
            **(query or {}),
            "X-Amz-Algorithm": _ALGORITHM,
            "X-Amz-Credential": f"{self.access_key}/{scope}",
            "X-Amz-Date": stamp,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        if self.session_token:
            fields["X-Amz-Security-Token"] = self.session_token
        url = f"{self.endpoint}/{self.name}"
        if key:
            url += f"/{quote(key, safe='/-_.~')}"
        parts = urlsplit(url)
        encoded = _encode(fields)
        request = "\n".join(
            (method, parts.path, encoded, f"host:{parts.netloc}\n", "host", "UNSIGNED-PAYLOAD")
        )
        digest = hashlib.sha256(request.encode()).hexdigest()
        signature = self._mac(scope, "\n".join((_ALGORITHM, stamp, scope, digest)))
        return f"{url}?{encoded}&X-Amz-Signature={signature}"

    def verify(self, url: str, now: datetime | None = None) -> tuple[str, dict[str, str]] | None:
        """Return the key and the query of an address that `sign` made for GET, if it is valid."""
        base, _, query = url.partition("?")
        start = f"{self.endpoint}/{self.name}/"
        if not base.startswith(start):
            return None
        fields = dict(parse_qsl(query, keep_blank_values=True))
        own = {name: value for name, value in fields.items() if not name.startswith("X-Amz-")}
        try:
            made = datetime.strptime(fields["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            seconds = int(fields["X-Amz-Expires"])
            ends = made + timedelta(seconds=seconds)
        except (KeyError, ValueError, OverflowError):
            return None
        key = unquote(base.removeprefix(start))
        expected = self.sign("GET", key, seconds, own, made)
        if not hmac.compare_digest(expected.encode(), url.encode()):
            return None
        return (key, own) if (now or datetime.now(UTC)) < ends else None

    def _mac(self, scope: str, text: str) -> str:
        key = f"AWS4{self.secret_key}".encode()
        for step in scope.split("/"):
            key = hmac.digest(key, step.encode(), hashlib.sha256)
        return hmac.digest(key, text.encode(), hashlib.sha256).hex()


def _encode(fields: Mapping[str, str]) -> str:
    """Return a query in its canonical form, as it is signed."""
    return "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(fields.items())
    )
