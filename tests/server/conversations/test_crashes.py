"""A server that is killed while conversations go on: each answered turn is kept whole, once."""

import random
from collections import defaultdict
from pathlib import Path

import httpx
import pytest

from support.crashes import rows, storm
from support.libraries import connect
from support.process import serve
from support.rounds import rounds
from support.spoken import echo, spoken_model


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_kill_during_conversations(tmp_path: Path) -> None:
    data = tmp_path / "data"
    asked, answered = set[str](), defaultdict[str, list[str]](list)

    def ask(http: httpx.Client, path: str, chance: random.Random) -> tuple[str, str]:
        text = f"{chance.getrandbits(60):x}"
        asked.add(text)
        body = {"inputs": text} if path.count("/") > 2 else {"inputs": text, "model": "spoken"}
        answer = http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["conversation_id"], text

    def work(http: httpx.Client, chance: random.Random) -> None:
        id, text = ask(http, "/v1/conversations", chance)
        answered[id].append(text)
        for _ in range(3):
            answered[id].append(ask(http, f"/v1/conversations/{id}", chance)[1])

    with spoken_model() as model:
        model.answer = echo
        options = ("--model-url", model.url)
        storm(data, rounds(2, 32), work, *options)
        with serve(data, *options) as server, connect(server) as http:
            ids = [id for (id,) in rows(data, "SELECT id FROM conversations")]
            for id in ids:
                entries = http.get(f"/v1/conversations/{id}/history").json()["entries"]
                said = [entry["content"] for entry in entries if entry["role"] == "user"]
                # A question is kept with its answer or not at all.
                assert [entry["role"] for entry in entries] == ["user", "assistant"] * len(said)
                assert said[: len(answered[id])] == answered[id]
                assert len(said) <= len(answered[id]) + 1
                assert set(said) <= asked
            assert {id for id, texts in answered.items() if texts} <= set(ids)
            # Each can go on.
            assert ask(http, f"/v1/conversations/{ids[0]}", random.Random(1))[0] == ids[0]
    turns = sum(map(len, answered.values()))
    print(f"\nconversations: {turns} answered in {len(ids)}, of {len(asked)} asked")
