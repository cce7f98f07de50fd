"""The magic in a real shell, against the real server."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import carrel
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.results.answer import Answer
from support.process import RunningServer


@pytest.fixture
def shell() -> Iterator[Any]:
    make: Any = InteractiveShell
    shell = make()
    shell.run_line_magic("load_ext", "carrel")
    yield shell
    shell.history_manager.end_session()


def test_a_cell_asks_an_agent(
    shell: Any, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    with carrel.connect() as bench:
        bench.create_agent("support", max_tokens=8)
        shell.user_ns.update(bench=bench, place="Paris", kind="nice")
        answer = shell.run_cell_magic("ask", "support", "Is {place} a {kind} of place?\n")
        assert isinstance(answer, Answer)
        assert answer.agent == "support"
        with pytest.raises(BenchError, match=r"names \{town\}, and there is no variable town"):
            shell.run_cell_magic("ask", "support", "Is {town} nice?")
        with pytest.raises(BenchError, match="There is no agent “suport”"):
            shell.run_cell_magic("ask", "suport", "Hello?")
        with pytest.raises(BenchError, match="No agent is named"):
            shell.run_cell_magic("ask", "", "Hello?")


def test_a_bench_is_needed(shell: Any) -> None:
    with pytest.raises(BenchError, match="There is no bench"):
        shell.run_cell_magic("ask", "support", "Hello?")
