"""Objects as a cell shows them."""

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from carrel.notebook.bench.bench import Bench
from carrel.notebook.results import display
from carrel.store.agents.drafts import Draft


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Any:
    make: Any = InteractiveShell
    shell = make()
    monkeypatch.setattr(display, "get_ipython", lambda: shell)
    display.register(Bench)
    return shell


def test_a_call_without_parentheses_shows_how_it_is_called(shell: Any) -> None:
    plain = shell.display_formatter.formatters["text/plain"]
    bench = Bench.__new__(Bench)
    assert plain(bench.chat) == (
        "bench.chat takes parentheses: "
        "bench.chat(agent, *, versions, beside, blind, height, layout)"
    )
    assert plain(shell.run_cell) == repr(shell.run_cell)


def test_a_draft_is_a_card(shell: Any) -> None:
    fields = {
        "name": "support",
        "model": "smollm2",
        "instructions": "Answer <briefly>.",
        "tools": [{"type": "document_library", "library_ids": ["l"]}],
        "completion_args": {"temperature": 0.5},
    }
    draft = Draft("d", "a", 3, fields)
    plain, html = (
        shell.display_formatter.formatters[kind](draft) for kind in ("text/plain", "text/html")
    )
    assert plain == "<Draft of support: a change of v3, not saved>"
    assert "<td>instructions</td><td>Answer &lt;briefly&gt;.</td>" in html
    assert "<td>tools</td><td>document_library: l</td>" in html
    assert "<td>temperature</td><td>0.5</td>" in html
