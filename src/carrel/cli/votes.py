"""`carrel agents votes`."""

import dataclasses
from typing import TYPE_CHECKING

from carrel.cli import output
from carrel.cli.options import JSONOption, ProfileOption
from carrel.cli.session import run
from carrel.config.profiles import folders, load_profile

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.comparison.votes import Votes


def votes(profile: ProfileOption = None, json: JSONOption = False) -> None:
    """Count the votes of all comparisons, per version.

    They are those of the chats on this machine and at the service.
    """
    from carrel.store.chat.sessions.comparisons import every_comparison
    from carrel.store.chat.sessions.saved import SavedSessions
    from carrel.store.comparison.votes import HEADINGS, count_votes

    saved = SavedSessions(folders().state, load_profile(profile).name)

    async def work(client: "Client") -> "tuple[Votes, ...]":
        return count_votes(await every_comparison(saved, client))

    found = run(profile, work)
    if json:
        output.as_json([dataclasses.asdict(row) for row in found])
    elif found:
        output.table([heading.upper() for heading in HEADINGS], [row.cells for row in found])
    else:
        output.note("No answers were judged yet: compare chats in the app, or in a notebook.")
