"""`carrel profiles`: added with a key that nobody sees, listed, chosen, removed."""

import sys

import pytest

from carrel.config.profiles import load_profile
from support.command import carrel
from support.terminal import terminal

URL = "https://api.example.com"


async def test_a_profile_from_adding_to_removing() -> None:
    added = await carrel("profiles", "add", "work", "--url", f"{URL}/v1", CARREL_API_KEY="sk-1")
    assert added.code == 0
    assert "CARREL_API_KEY" in added.err
    assert load_profile("work").api_key == "sk-1"
    assert (await carrel("profiles", "use", "work")).code == 0
    assert load_profile().url == URL
    listed = await carrel("profiles", "list", "--json")
    assert [(it["name"], it["default"], it["has_key"]) for it in listed.json] == [
        ("local", False, True),
        ("work", True, True),
    ]
    table = await carrel("profiles", "list")
    assert URL in table.out
    assert "sk-1" not in added.out + added.err + listed.out + table.out + table.err
    assert (await carrel("profiles", "remove", "work")).code == 0
    assert load_profile().local


async def test_the_vendors_variable_is_understood() -> None:
    added = await carrel("profiles", "add", "work", "--url", URL, MISTRAL_API_KEY="sk-2")
    assert added.code == 0
    assert "MISTRAL_API_KEY" in added.err
    assert load_profile("work").api_key == "sk-2"


def test_the_key_is_asked_for_without_echo() -> None:
    command = [sys.executable, "-m", "carrel", "profiles", "add", "work", "--url", URL]
    with terminal(command) as asking:
        asking.wait_for("API key for api.example.com:")
        asking.type("sk-typed")
        asking.press("enter")
        assert asking.wait_for_end() == 0
        assert b"sk-typed" not in asking.raw
    assert load_profile("work").api_key == "sk-typed"


async def test_without_a_terminal_the_key_must_be_in_the_environment() -> None:
    refused = await carrel("profiles", "add", "work", "--url", URL)
    assert refused.code == 2
    assert "CARREL_API_KEY" in refused.err
    assert (await carrel("--profile", "work", "files", "list")).code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "local", "--url", URL], "is taken"),
        (["add", "work", "--url", "example.com"], "not an address"),
        (["use", "nobody"], "no profile"),
        (["remove", "local"], "cannot be removed"),
    ],
)
async def test_what_cannot_be_is_said_in_a_line(arguments: list[str], says: str) -> None:
    refused = await carrel("profiles", *arguments, CARREL_API_KEY="k")
    assert refused.code == 2
    assert says in refused.err
    assert refused.err.count("\n") <= 2


async def test_an_open_network_is_named() -> None:
    added = await carrel("profiles", "add", "lab", "--url", "http://lab:8080", CARREL_API_KEY="k")
    assert added.code == 0
    assert "not encrypted" in added.err
