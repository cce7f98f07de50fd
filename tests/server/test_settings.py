"""Settings: each of them explained where a person looks, and in force."""

import io
import re
import tomllib
from pathlib import Path

import pytest
from PIL import Image

from carrel.server.settings import Connector, FolderSettings, Limits, ServerSettings
from support.command import carrel
from support.libraries import connect, new_library
from support.process import serve


async def test_every_setting_is_explained() -> None:
    help = (await carrel("serve", "--help")).out
    options = {name.replace("_", "-") for name in ServerSettings.model_fields}
    # The file alone has these: a key on a command line can be read by others.
    options -= {
        "limits",
        "model-key",
        "model-name",
        "embedding-model",
        "cors",
        "hosts",
        "store-signs",
        "proxies",
        "ocr-url",
        "ocr-model",
        "ocr-key",
        "ocr-for",
        "rerank-url",
        "rerank-key",
        "rerank-model",
        "connectors",
        "web-search",
    }
    options = (options - {"model-path"}) | {"model"}
    for option in options:
        assert re.search(rf"--{option}\b.*\s\w+", help), option
    for name in FolderSettings.model_fields.keys() - {"limits", "connectors"}:
        assert re.search(rf"^ +{name} = \S+ +\S+", help, re.MULTILINE), name
    for name in Connector.model_fields:
        assert re.search(rf"^ +{name} = \S+ +\S+", help[help.index("[conn") :], re.MULTILINE), name
    for name, limit in Limits.model_fields.items():
        line = re.search(rf"^ +{name} = (\d+) +\S+", help, re.MULTILINE)
        assert line, name
        assert limit.default in (None, int(line[1])), name


async def test_the_lasting_settings_can_be_copied_from_the_help() -> None:
    help = (await carrel("serve", "--help")).out
    limits = re.findall(r"^ +(\w+ = \d+)", help[help.index("[limits]") :], re.MULTILINE)
    Limits.model_validate(tomllib.loads("\n".join(limits)))


@pytest.mark.parametrize("url", ["carrel.example.com", "ftp://x", "https://", "https://x/?a=b"])
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    refused = await carrel("serve", "--public-url", url)
    assert refused.code == 2
    assert "--public-url" in refused.err


def test_signed_addresses_begin_with_the_public_address(tmp_path: Path) -> None:
    public = "https://carrel.example.com/base"
    with serve(tmp_path / "data", "--public-url", f"{public}/") as server, connect(server) as http:
        id = http.post("/v1/files", files={"file": ("a.txt", b"text")}).json()["id"]
        url = http.get(f"/v1/files/{id}/url").json()["url"]
        assert url.startswith(f"{public}/signed/")
        assert http.get(url.removeprefix(public)).content == b"text"


def test_the_bounds_of_a_hosted_service_can_be_set(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(
        "[limits]\nfile_days = 30\ndocument_bytes = 3\nocr_bytes = 3\n"
    )
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    with serve(data) as server, connect(server) as http:
        upload = {"file": ("a.png", picture.getvalue())}
        file = http.post("/v1/files", files=upload).json()
        assert file["expires_at"] == file["created_at"] + 30 * 24 * 3600
        own = http.post("/v1/files", files=upload, data={"expiry": "1"}).json()
        assert own["expires_at"] == own["created_at"] + 3600
        library = new_library(http)
        refused = http.post(f"/v1/libraries/{library.id}/documents", files=upload)
        assert refused.status_code == 413
        document = {"type": "file", "file_id": file["id"]}
        assert http.post("/v1/ocr", json={"model": None, "document": document}).status_code == 413
