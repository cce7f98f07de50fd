"""What an organisation may keep."""

import asyncio
from pathlib import Path

import httpx

from support import storage
from support.libraries import connect, new_library
from support.process import serve


async def test_an_organisation_keeps_no_more_than_it_may(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(
        "[limits]\norganisation_bytes = 1000\norganisation_documents = 2\n"
    )
    with serve(data) as server, connect(server) as http:
        library = new_library(http)
        documents = f"{library.path}/documents"

        def upload(path: str, number: int, size: int = 100) -> httpx.Response:
            files = {"file": (f"{number}.txt", bytes([64 + number]) * size)}
            return http.post(path, files=files)

        made = await asyncio.gather(
            *(asyncio.to_thread(upload, documents, number) for number in range(5))
        )
        assert sorted(answer.status_code for answer in made) == [200, 200, 403, 403, 403]
        [refused] = {answer.json()["message"] for answer in made if answer.status_code == 403}
        assert "may keep 2 documents" in refused
        # The same bytes again are the document that is there.
        kept = next(number for number, answer in enumerate(made) if answer.is_success)
        assert upload(documents, kept).status_code == 200

        file = upload("/v1/files", 7, 800)
        assert file.status_code == 200
        answer = upload("/v1/files", 8, 1)
        assert (answer.status_code, "may keep 1,000 bytes" in answer.text) == (403, True)
        assert http.get("/v1/files").json()["total"] == 1
        http.delete(f"/v1/files/{file.json()['id']}").raise_for_status()
        assert upload("/v1/files", 8, 1).status_code == 200

        _, key = storage.key_chain(data).add("other", "others", "other")
        with connect(server) as other:
            other.headers["authorization"] = f"Bearer {key}"
            files = {"file": ("a.txt", b"a" * 900)}
            assert other.post("/v1/files", files=files).status_code == 200
