"""`carrel search`: one search over all libraries and the chats of this machine."""

from dataclasses import asdict
from typing import Annotated

from carrel.cli import output
from carrel.cli.options import JSONOption, ProfileOption, argument, option
from carrel.cli.session import run
from carrel.config.profiles import folders, load_profile
from carrel.store import advice


def search(
    query: Annotated[str, argument("QUERY", "The search terms.")],
    limit: Annotated[int, option("N", "The most passages per library.", min=1, max=100)] = 10,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Search every library, and the chats of this machine, for passages.

    The app does the same with ctrl+f, a notebook with bench.search.
    """
    from carrel.store.chat.sessions.saved import SavedSessions
    from carrel.store.search.formatting import group_hits, place_of, places_words
    from carrel.store.search.service import search_everywhere

    chats = SavedSessions(folders().state, load_profile(profile).storage_name).all()
    answer = run(profile, lambda client: search_everywhere(client, chats, query, limit))
    if json:
        output.as_json(asdict(answer))
        return
    for title, hits in group_hits(answer.found):
        output.data(title)
        for hit in hits:
            output.data(output.wrap(f"  {place_of(hit)}", hit.passage))
    if not answer.found:
        output.note(advice.NOTHING_FOUND)
    output.note(f"{places_words(answer.places)}.")
