"""Switching to another service, of a saved or a new profile."""

from carrel.config.profiles import LOCAL, Profile, profiles, remove_profile
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Option
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.dialogs.service import ServiceForm, ServiceList
from carrel.tui.flows.activity import may_leave
from carrel.tui.theme import labels

_NEW = "\0new"


async def connect(place: MainScreen) -> None:
    """Ask for a service and end the app with its profile, to restart on it.

    A profile can be edited or removed instead.
    """
    bench = place.workbench
    here = place.store.profile.name
    known = {profile.name: profile for profile in profiles()}
    chosen: tuple[str, str] | None = ("connect", _NEW)
    if known.keys() != {here}:
        places = {name: known[name].url or "on this machine" for name in known}
        if here in places:
            places[here] = f"here now · {places[here]}"
        options = [Option(name, name, where) for name, where in places.items()]
        options.append(Option(_NEW, "Another service…", key="n"))
        chosen = await place.ask(ServiceList(options))
    if chosen is None:
        return
    verb, name = chosen
    profile: Profile | None = None
    if verb == "remove":
        if name in (LOCAL, here):
            bench.show_notice("This service is in use: connect to another first.", failed=True)
        elif name in known:
            await _remove(place, known[name])
    elif verb == "edit" and name == LOCAL:
        bench.show_notice("The server of this machine needs no address and no key.")
    elif name == _NEW or verb == "edit":
        profile = await place.ask(ServiceForm(known.get(name)))
    else:
        profile = known[name]
    if profile is not None and await may_leave(place, "leave"):
        place.app.exit(profile)


async def _remove(place: MainScreen, profile: Profile) -> None:
    """Remove a profile and its key from this machine after confirmation."""
    about = [
        labels.line(f"{profile.name} · {profile.url}", "bold"),
        labels.line("Its key goes with it. Nothing changes at the service."),
    ]
    if await place.ask(Confirm("Remove this profile?", about, "Remove")):
        remove_profile(profile.name)
        place.workbench.show_notice(f"Removed {profile.name} and its key from this machine.")
