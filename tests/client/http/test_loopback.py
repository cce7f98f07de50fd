"""A client of this machine."""

import ssl
from typing import Any

import pytest

from carrel.client import Client, Unreachable
from support.service import reply, service

FILES = reply({"data": [], "object": "list", "total": 0})


async def test_certificates_are_loaded_with_the_first_https_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = []
    load = ssl.SSLContext.load_verify_locations

    def note(context: ssl.SSLContext, *arguments: Any, **named: Any) -> None:
        loaded.append(context.verify_mode)
        load(context, *arguments, **named)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", note)
    async with service(FILES) as local, Client(local.url, "key") as client:
        await client.files.list()
        assert loaded == []
        client.move(local.url.replace("http:", "https:"), "key")
        with pytest.raises(Unreachable):
            await client.files.list()
    assert set(loaded) == {ssl.CERT_REQUIRED}
