"""Objects as a cell shows them."""

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from carrel.notebook.results import display
from carrel.store.agents.drafts import Draft


def test_a_draft_is_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    make: Any = InteractiveShell
    shell = make()
    monkeypatch.setattr(display, "get_ipython", lambda: shell)
    display.register()
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
