"""`carrel profiles …`"""

import os
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.options import JSONOption, commands
from carrel.config import (
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

app = commands("Name the services to talk to, and keep their keys.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME")]

_KEY_VARIABLES = ("CARREL_API_KEY", "MISTRAL_API_KEY")


@app.command("add")
def add(
    name: NameArgument,
    url: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where the service is: https://api.example.com")
    ],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Refuse whatever changes something there.")
    ] = False,
    colour: Annotated[
        str | None, typer.Option(metavar="COLOUR", help="Marks the profile in the terminal app.")
    ] = None,
) -> None:
    """Add a hosted service, or change one of the same name.

    The key is taken from CARREL_API_KEY, else from MISTRAL_API_KEY, else asked for without echo.
    It is kept in a file that only you can read, and sent to this address alone.
    """
    address = check_url(url)
    host = urlsplit(address).netloc
    variable = next((name for name in _KEY_VARIABLES if os.environ.get(name)), None)
    if variable is None:
        key = _ask(host)
    else:
        key = os.environ[variable]
        output.note(f"Taking the key from {variable}.")
    add_profile(Profile(name, address, key.strip() or None, read_only, colour))
    if address.startswith("http://") and not on_this_machine(address):
        output.note(f"The way to {host} is not encrypted: the key can be read on it.")
    output.note(f"Added {name}. Use it with: carrel --profile {name}")


@app.command("list")
def list_profiles(json: JSONOption = False) -> None:
    """List the profiles. Keys are never shown."""
    default = default_profile()
    if json:
        output.as_json(
            [
                {
                    "name": profile.name,
                    "url": profile.url,
                    "default": profile.name == default,
                    "read_only": profile.read_only,
                    "has_key": profile.local or profile.api_key is not None,
                    "colour": profile.colour,
                }
                for profile in profiles()
            ]
        )
        return
    output.table(
        ["NAME", "ADDRESS", "KEY", "ACCESS", "DEFAULT"],
        [
            (
                profile.name,
                profile.url or "this machine",
                "its own" if profile.local else "kept" if profile.api_key else "none",
                "read-only" if profile.read_only else "full",
                "default" if profile.name == default else "",
            )
            for profile in profiles()
        ],
    )
    if os.environ.get("CARREL_URL"):
        output.note("CARREL_URL is set and is used instead, unless --profile says otherwise.")
    output.note(f"Kept in {folders().config_file}")


@app.command("remove")
def remove(name: NameArgument) -> None:
    """Remove a profile and its key."""
    remove_profile(name)
    output.note(f"Removed {name}.")


@app.command("use")
def use(name: NameArgument) -> None:
    """Make a profile the default."""
    use_profile(name)
    output.note(f"{name} is the default profile now.")


def _ask(host: str) -> str:
    import getpass

    if not sys.stdin.isatty():
        raise CommandError(
            f"The API key for {host} is needed: put it in CARREL_API_KEY, or run this in a "
            "terminal to be asked for it.",
            Code.USAGE,
        )
    return getpass.getpass(f"API key for {host}: ", stream=sys.stderr)
