"""Formatting of consents, and of a question's steps."""

from collections.abc import Mapping

from carrel.store.core.formatting import one_line
from carrel.store.core.problem import Problem
from carrel.store.tools.loop import STEPS
from carrel.store.tools.state import Consent, Permission

_ARGUMENTS = 400
"""Most characters of a call's arguments."""
_LETTERS: dict[str, Permission] = {"y": "once", "c": "chat", "a": "always"}

PAUSED = Problem(
    f"Paused after {STEPS} steps",
    "The agent went on calling functions.",
    "Retry continues; a new question starts over.",
)


def consent_title(consent: Consent) -> str:
    """Return `Allow agents to run this?`, `Allow agents to use this server?`"""
    if consent.kind == "command":
        return "Let agents run this command?"
    return "Let agents use this server?"


def consent_lines(consent: Consent) -> tuple[str, str, str]:
    """Return the name with its command line or address, the asking agent, and the scope of
    “Always”."""
    return (
        one_line(f"{consent.name}: {consent.runs}"),
        _asker(consent),
        "“Always” lasts until the settings name another command or address.",
    )


def consent_choices(consent: Consent) -> Mapping[Permission, str]:
    """Return the possible answers."""
    here: dict[Permission, str] = {} if consent.chat is None else {"chat": "In this chat"}
    return {"no": "Cancel", "once": "This time", **here, "always": "Always"}


def consent_question(consent: Consent) -> str:
    """Return one line: `weather runs: python weather.py. An agent calls it. Let agents run it?`"""
    verb = "runs" if consent.kind == "command" or "://" not in consent.runs else "is at"
    asks = f"{consent.name} {verb}: {consent.runs}. {_asker(consent)} {consent_title(consent)}"
    return one_line(asks)


def answer_words(consent: Consent) -> str:
    """Return the keys of the answers at a prompt: `This time (y), always (a) or not (enter)?`"""
    here = "" if consent.chat is None else " in this chat (c),"
    return f"This time (y),{here} always (a) or not (enter)?"


def read_answer(said: str) -> Permission:
    """Return the permission that a line typed at a prompt gives."""
    return _LETTERS.get(said.strip().lower()[:1], "no")


def _asker(consent: Consent) -> str:
    if consent.kind == "server":
        return "This chat uses its tools."
    given = consent.arguments.strip()
    with_what = f" with {one_line(given[:_ARGUMENTS])}" if given not in ("", "{}") else ""
    return f"An agent calls it{with_what}."


def rounds_words(step: int) -> str:
    """Return `step 2 of 8`, or an empty string for the first step."""
    return f"step {step} of {STEPS}" if step > 1 else ""
