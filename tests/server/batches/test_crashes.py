"""A server that is killed while it works off a batch: no line is lost, none is made twice."""

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.batches import create, ended, lines_of, question, show, upload
from support.libraries import connect
from support.process import serve
from support.rounds import rounds
from support.spoken import echo, spoken_model

KILLS = rounds(2, 30)
LINES = 20 * KILLS
CHAT = "/v1/chat/completions"


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_kill_during_a_batch(tmp_path: Path) -> None:
    texts = [f"Question {number}" for number in range(LINES)]
    chance = random.Random(7)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.02)
        return echo(body)

    answered = set[str]()
    with spoken_model() as model:
        model.answer = answer
        options = ("--model-url", model.url)
        with serve(tmp_path / "data", *options) as server, connect(server) as http:
            file = upload(http, [{"custom_id": text, "body": question(text)} for text in texts])
            job = create(http, CHAT, input_files=[file])["id"]
            server.process.kill()
        for kill in range(KILLS):
            with serve(tmp_path / "data", *options) as server, connect(server) as http:
                begun = len(model.asked)
                model.wait_for_questions(begun + chance.randrange(3, 15))
                done = show(http, job)["completed_requests"]
                server.process.kill()
                server.process.wait()
            print(f"killed {kill}: {done} of {LINES} lines had an answer")
        with serve(tmp_path / "data", *options) as server, connect(server) as http:
            end = ended(http, job)
            lines = lines_of(http, end["output_file"])
    assert (end["status"], end["succeeded_requests"], end["error_file"]) == ("SUCCESS", LINES, None)
    assert [line["custom_id"] for line in lines] == texts
    said = [line["response"]["body"]["choices"][0]["message"]["content"] for line in lines]
    assert said == texts
    # Asked again were only those without an answer when the server was killed: two run at once.
    again = Counter(model.questions)
    assert sum(again.values()) <= LINES + 2 * (KILLS + 1)
    answered.update(again)
    assert answered == set(texts)
