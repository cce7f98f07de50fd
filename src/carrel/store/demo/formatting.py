"""Words about a demo, the same in both faces."""

from __future__ import annotations

from carrel.store.demo.state import DemoState

RECORDED = "⚑ Recorded answer"
LEFT_OUT = "The keys of this step are for the terminal."
AWAITS_KEY = "each key types"


def way_on(state: DemoState) -> str:
    """Return what to do about a step that failed."""
    way = "F8 shows the recorded answer" if state.offers else "F8 goes on without it"
    return f"{way} · F7 F8 tries again"


def place_words(state: DemoState) -> str:
    """Return how far the demo has come."""
    if state.ended:
        return f"The end · {state.count} steps"
    if state.phase == "ready":
        return f"{state.played} of {state.count} steps"
    return f"Step {state.played + 1} of {state.count}"
