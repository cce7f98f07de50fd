"""`%%ask AGENT`: a cell with a question."""

import re
from typing import TYPE_CHECKING, Any

from carrel.notebook.bench.bench import Bench
from carrel.notebook.cells.errors import BenchError
from carrel.notebook.results.answer import Answer

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_NAME = re.compile(r"\{(\w+)\}")


def register(shell: "InteractiveShell") -> None:
    """Register the magic with a shell; its questions go to the notebook's `bench`."""

    def ask(line: str, cell: str) -> Answer:
        """Ask an agent the text of the cell; `{name}` stands for a variable of the notebook."""
        names: dict[str, Any] = shell.user_ns
        bench, agent = names.get("bench"), line.strip()
        if not isinstance(bench, Bench):
            advice = "Run bench = carrel.connect() first."
            raise BenchError("There is no bench", "", advice)
        if not agent:
            raise BenchError("No agent is named", "", "Write its name: %%ask support")
        return bench.ask(agent, _fill_in(cell.strip(), names))

    add: Any = shell.register_magic_function  # its type hints are wrong
    add(ask, "cell", "ask")


def _fill_in(text: str, names: dict[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in names:
            title = f"The question names {match[0]}, and there is no variable {match[1]}"
            raise BenchError(title, "", "Assign it in a cell before, or change the name.")
        return str(names[match[1]])

    return _NAME.sub(value, text)
