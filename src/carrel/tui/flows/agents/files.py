"""Agents in files: a plan of the differences from the service, then exactly that plan."""

from carrel.store.agents.definitions import SUFFIXES
from carrel.store.agents.plan import done_words, overwriting_words, plan_rows, step_words
from carrel.store.core.formatting import one_line
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.changes import Changes
from carrel.tui.dialogs.core.path import PathDialog, PathKind, find_folder
from carrel.tui.terminal.drops import parse_drop
from carrel.tui.theme import labels

_APPLY = "apply"
DEFINITIONS = PathKind(
    "Path of a folder of agents, or of a YAML file",
    "There is no file or folder at this path.",
    "tab completes · ↑ ↓ choose · enter accepts",
    offers=lambda name: name.endswith(SUFFIXES),
    find=lambda text: find_folder(text) or parse_drop(text, relative=True),
)


async def plan(place: MainScreen) -> None:
    """Show the differences between agents and their files, and apply them after confirmation."""
    paths = await place.ask(PathDialog("Agents in files", DEFINITIONS))
    if not paths:
        return
    made = await place.store.agents.plan(paths)
    if not made.pending:
        words = "; ".join(f"{one_line(step.name)}: {step_words(step)}" for step in made.steps)
        place.notice(f"Nothing differs. {words}")
        return
    doubt = overwriting_words(made)
    warning = f"⚠ {doubt}: apply replaces what is there."
    words = warning if doubt else "Apply makes exactly this change:"
    about = labels.line(words, "$failed" if doubt else "$muted")
    count = len(made.pending)
    verb = f"{'Replace and apply' if doubt else 'Apply'} to {count} agent{'s' * (count > 1)}"
    # The last answer is the default; an overwriting one never is.
    answers = [("close", "Cancel"), (_APPLY, verb)]
    chosen = await place.ask(
        Changes("Agents in files", about, plan_rows(made), answers[::-1] if doubt else answers)
    )
    if chosen == _APPLY:
        steps = await place.store.agents.apply(made)
        done = (f"{one_line(step.name)} {done_words(step)}" for step in steps)
        place.notice(f"Applied: {', '.join(done)}.")
