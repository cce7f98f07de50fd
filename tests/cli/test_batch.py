"""`carrel batch` against the real server."""

import json
from pathlib import Path

from support.command import Ended, carrel
from support.process import RunningServer


async def test_batches(server: RunningServer, tmp_path: Path) -> None:
    async def run(*arguments: str | Path, code: int = 0) -> Ended:
        ended = await carrel(*arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)
        assert ended.code == code, ended
        return ended

    path = tmp_path / "words.jsonl"
    requests = [
        {"custom_id": "owl", "body": {"input": "an owl at night"}},
        {"custom_id": "none", "body": {"input": []}},
    ]
    path.write_text("".join(f"{json.dumps(request)}\n" for request in requests))
    created = await run("batch", "create", "embeddings", path, "--model", "mistral-embed")
    id = created.out.strip()
    assert created.err == (f"Created a batch. Fetch its answers with: carrel batch fetch {id}\n")

    fetched = await run("batch", "fetch", id)
    [line] = map(json.loads, fetched.out.splitlines())
    assert line["custom_id"] == "owl"
    assert fetched.err == "SUCCESS: 1 of 2 answered, 1 failed.\n"
    errors = tmp_path / "errors.jsonl"
    assert (await run("batch", "fetch", id, errors, "--errors")).out == f"{errors}\n"
    assert json.loads(errors.read_text())["custom_id"] == "none"

    shown = await run("batch", "show", id)
    assert "done         2 of 2" in shown.out
    assert "/v1/embeddings" in shown.out
    listed = await run("batch", "list")
    assert listed.out.splitlines()[0].split()[:4] == ["ID", "OPERATION", "STATUS", "DONE"]
    assert (await run("batch", "list", "--json")).json[0]["id"] == id
    assert (await run("batch", "cancel", id)).err == "The batch is SUCCESS.\n"

    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"body": {}}))
    failed = (await run("batch", "create", "ocr", bad)).out.strip()
    refused = await run("batch", "fetch", failed, code=1)
    assert refused.err.splitlines()[-1].startswith(
        "carrel: The batch is FAILED and has no answers: "
    )
