"""Permissions, and the steps of a question, in words."""

from __future__ import annotations

from carrel.store.core.formatting import one_line
from carrel.store.core.problem import Problem
from carrel.store.tools.loop import STEPS
from carrel.store.tools.state import Consent

PAUSED = Problem(
    f"Paused after {STEPS} steps",
    "The agent went on calling functions.",
    "Retry lets it go on, asking again begins anew.",
)


def consent_title(consent: Consent) -> str:
    """Return `Allow agents to run this?`, `Allow agents to use this server?`"""
    if consent.kind == "command":
        return "Let agents run this command?"
    return "Let agents use this server?"


def consent_lines(consent: Consent) -> tuple[str, str, str]:
    """Return its name, its command line or address, and how long the permission lasts."""
    asked = "An agent calls it." if consent.kind == "command" else "This chat uses its tools."
    return (
        one_line(f"{consent.name}: {consent.runs}"),
        asked,
        "It is remembered until the settings name another command or address.",
    )


def consent_question(consent: Consent) -> str:
    """Return one line, for a prompt: `weather runs: python weather.py. Let agents run it?`"""
    verb = "runs" if consent.kind == "command" or "://" not in consent.runs else "is at"
    return one_line(f"{consent.name} {verb}: {consent.runs}. {consent_title(consent)}")


def rounds_words(step: int) -> str:
    """Return `step 2 of 8`; empty for the first."""
    return f"step {step} of {STEPS}" if step > 1 else ""
