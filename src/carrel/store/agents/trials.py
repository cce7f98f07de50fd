"""Trials: agents that are created for one answer and removed after it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from carrel.client.http.errors import ClientError

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import Agent


logger = logging.getLogger(__name__)

TRIAL = {"carrel": "trial"}
"""Metadata that marks an agent as a trial."""

LEFT_OVER = 3600.0
"""Age in seconds from which a trial counts as left behind by a crash."""


def is_trial(agent: Agent) -> bool:
    """Return whether an agent is a trial."""
    return TRIAL.items() <= (agent.metadata or {}).items()


def is_left_over(agent: Agent, now: float) -> bool:
    """Return whether a trial has outlived its answer; `now` in seconds since 1970."""
    return is_trial(agent) and now - agent.updated_at.timestamp() > LEFT_OVER


async def remove_trial(client: Client, agent_id: str) -> None:
    """Remove a trial; a later clean-up retries a failed removal."""
    try:
        await client.agents.delete(agent_id)
        if client.trash_days is not None:
            await client.trash.delete(agent_id)
    except ClientError as error:
        logger.info("a trial was not removed: %s", error)
