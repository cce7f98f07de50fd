"""`carrel profiles …`"""

import os
import sys
from typing import Annotated
from urllib.parse import urlsplit

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, argument, commands, flag, option
from carrel.config.profiles import (
    KEY_VARIABLES,
    Profile,
    add_profile,
    check_url,
    default_profile,
    folders,
    on_this_machine,
    profiles,
    remove_profile,
    use_profile,
)

app = commands("Manage the services to connect to and their API keys.")

NameArgument = Annotated[str, argument("NAME")]


@app.command("add")
def add(
    name: NameArgument,
    url: Annotated[
        str, option("ADDRESS", "The service's address, such as https://api.example.com.")
    ],
    read_only: Annotated[
        bool, flag("--read-only", "Refuse every command that changes something there.")
    ] = False,
    colour: Annotated[
        str | None, option("COLOUR", "The profile's colour in the terminal app.")
    ] = None,
) -> None:
    """Add a hosted service, or change the one of the same name.

    The API key comes from CARREL_API_KEY, then MISTRAL_API_KEY, then a prompt without echo. It
    is stored in a file that only you can read and sent to this address alone.
    """
    address = check_url(url)
    host = urlsplit(address).netloc
    variable = next((name for name in KEY_VARIABLES if os.environ.get(name)), None)
    if variable is None:
        key = _ask(host)
    else:
        key = os.environ[variable]
        output.note(f"Using the key from {variable}.")
    add_profile(Profile(name, address, key.strip() or None, read_only, colour))
    if address.startswith("http://") and not on_this_machine(address):
        output.note(f"The connection to {host} is not encrypted: others can read the key.")
    output.note(f"Added {name}. Use it with: carrel --profile {name}")


@app.command("list")
def list_profiles(json: JSONOption = False) -> None:
    """List profiles. Keys are never shown."""
    default = default_profile()
    output.show_list(
        profiles(),
        json,
        lambda profile: {
            "name": profile.name,
            "url": profile.url,
            "default": profile.name == default,
            "read_only": profile.read_only,
            "has_key": profile.local or profile.api_key is not None,
            "colour": profile.colour,
        },
        NAME=lambda profile: profile.name,
        ADDRESS=lambda profile: profile.url or "this machine",
        KEY=lambda profile: "own" if profile.local else "stored" if profile.api_key else "none",
        ACCESS=lambda profile: "read-only" if profile.read_only else "full",
        DEFAULT=lambda profile: "default" if profile.name == default else "",
    )
    if json:
        return
    if os.environ.get("CARREL_URL"):
        output.note("CARREL_URL is set and takes precedence unless --profile is given.")
    output.note(f"Stored in {folders().config_file}")


@app.command("remove")
def remove(name: NameArgument) -> None:
    """Remove a profile and its key."""
    remove_profile(name)
    output.note(f"Removed {name}.")


@app.command("use")
def use(name: NameArgument) -> None:
    """Make a profile the default."""
    use_profile(name)
    output.note(f"{name} is now the default profile.")


def _ask(host: str) -> str:
    import getpass

    if not sys.stdin.isatty():
        raise CommandError(
            f"The API key for {host} is missing. Set CARREL_API_KEY, or run this in a terminal "
            "to be asked for it.",
            Code.USAGE,
        )
    return getpass.getpass(f"API key for {host}: ", stream=sys.stderr)
