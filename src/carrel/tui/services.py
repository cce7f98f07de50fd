"""Going to another service: one of a profile, or one that is connected to for the first time."""

from typing import TYPE_CHECKING

from carrel.config import Profile, profiles
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.dialogs.service import ServiceForm

if TYPE_CHECKING:
    from carrel.tui.app import CarrelApp

_NEW = "\0new"


def choose(app: "CarrelApp") -> None:
    """Asks which service, and goes on with it: the app starts anew, with another state."""
    others = {each.name: each for each in profiles() if each.name != app.profile.name}

    def connected(profile: Profile | None) -> None:
        if profile is not None:
            app.exit(profile)

    def chosen(name: str | None) -> None:
        if name == _NEW:
            app.push_screen(ServiceForm(), connected)
        elif name is not None:
            connected(others[name])

    things = [Thing(it.name, it.name, it.url or "on this machine") for it in others.values()]
    if things:
        new = Thing(_NEW, "Another service…")
        app.push_screen(Choose("Connect to", [*things, new]), chosen)
    else:
        chosen(_NEW)
