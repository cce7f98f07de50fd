"""Parameters of one chat: overrides of the agent's sampling, and additional tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of one chat. None, or no stops, keeps the agent's value. `max_tokens` limits an
    answer.

    `tools` are names of commands and MCP servers in the settings that the agent may call.
    """

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Parameters:
        """Build parameters from saved values or a form's.

        Raises:
            ValueError: a value is out of range; the message names it.
        """
        stop = values.get("stop") or ()
        tools = values.get("tools") or ()
        names = tools.split(",") if isinstance(tools, str) else map(str, tools)
        return cls(
            model=str(values.get("model") or "").strip() or None,
            temperature=_number(values.get("temperature"), "temperature", 0, 1),
            top_p=_number(values.get("top_p"), "top_p", 0, 1),
            max_tokens=_parse_whole(values.get("max_tokens"), "max_tokens", 1),
            seed=_parse_whole(values.get("seed"), "seed", 0),
            stop=tuple(str(text) for text in ([stop] if isinstance(stop, str) else stop) if text),
            tools=tuple(dict.fromkeys(name.strip() for name in names if name.strip())),
        )

    @property
    def changes_agent(self) -> bool:
        """Whether the parameters need a trial agent: a request cannot override model and
        sampling."""
        return any(value is not None for value in (self.model, self.temperature, self.top_p))

    def request(self) -> dict[str, Any]:
        """Return the parameters that a request can carry."""
        named = {
            "max_tokens": self.max_tokens,
            "random_seed": self.seed,
            "stop": list(self.stop) or None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def sampling(self) -> dict[str, Any]:
        """Return the parameters that only an agent can carry."""
        named = {"temperature": self.temperature, "top_p": self.top_p}
        return {name: value for name, value in named.items() if value is not None}


AGENTS_OWN = Parameters()
"""No overrides."""


def _number(value: Any, name: str, least: float, most: float) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = least - 1
    if not least <= number <= most:
        raise ValueError(f"{name} is a number from {least} to {most}.")
    return number


def _parse_whole(value: Any, name: str, least: int) -> int | None:
    if value is None or value == "":
        return None
    try:
        number = int(str(value))
    except ValueError:
        number = least - 1
    if not least <= number <= 2**53:
        raise ValueError(f"{name} is a whole number from {least}.")
    return number
