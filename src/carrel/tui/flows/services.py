"""Going to another service: one of a profile, or one that is connected to for the first time."""

from typing import TYPE_CHECKING

from carrel.config import LOCAL, Profile, profiles, remove_profile
from carrel.tui.dialogs.ask import Thing
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.dialogs.service import ServiceForm, ServiceList
from carrel.tui.looks import labels

if TYPE_CHECKING:
    from carrel.tui.app import CarrelApp

_NEW = "\0new"


def choose(app: "CarrelApp") -> None:
    """Asks which service, and goes on with it: the app starts anew, with another state."""
    here = app.profile.name
    known = {each.name: each for each in profiles()}

    def connected(profile: Profile | None) -> None:
        if profile is not None:
            app.exit(profile)

    def chosen(name: str | None) -> None:
        if name == _NEW:
            app.push_screen(ServiceForm(), connected)
        elif name is not None:
            connected(known[name])

    def edit(name: str) -> None:
        if name == LOCAL:
            app.say("The server of this machine needs no address and no key.")
        else:
            app.push_screen(ServiceForm(known.get(name)), connected)

    def remove(name: str) -> None:
        if name in (LOCAL, here):
            app.say("A service that is in use stays: connect to another first.", failed=True)
        elif name in known:
            _remove(app, known[name])

    if known.keys() == {here}:
        chosen(_NEW)
        return
    things = [
        Thing(
            each.name,
            each.name,
            ("here now · " if each.name == here else "") + (each.url or "on this machine"),
        )
        for each in known.values()
    ]
    app.push_screen(ServiceList([*things, Thing(_NEW, "Another service…")], edit, remove), chosen)


def _remove(app: "CarrelApp", profile: Profile) -> None:
    def answered(yes: bool | None) -> None:
        if yes:
            remove_profile(profile.name)
            app.say(f"Removed {profile.name} and its key from this machine.")

    about = [
        labels.line(f"{profile.name} · {profile.url}", "bold"),
        labels.line("Its key goes with it. Nothing changes at the service."),
    ]
    app.push_screen(Confirm("Remove this profile?", about, "Remove"), answered)
