"""The keywords as IPython completes and describes them."""

import inspect
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from carrel.notebook.bench.bench import Bench


@pytest.mark.parametrize("method", ["agent", "create_agent", "edit_agent"])
def test_tab_completes_the_fields_of_an_agent(method: str) -> None:
    make: Any = InteractiveShell
    shell = make()
    shell.user_ns["Bench"] = Bench
    text = f"Bench.{method}(bench, 'support', "
    with provisionalcompleter():
        offered = {one.text for one in shell.Completer.completions(text, len(text))}
    assert {"model=", "instructions=", "temperature=", "libraries=", "message="} <= offered
    described = inspect.getdoc(getattr(Bench, method))
    assert described is not None
    assert "temperature: 0 to 1" in described
    shell.history_manager.end_session()
