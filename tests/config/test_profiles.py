"""Profiles: which one is used, how they are kept, and what a wrong file says."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config.profiles import (
    ConfigError,
    Price,
    Profile,
    add_profile,
    check_url,
    default_profile,
    folders,
    load_profile,
    profile_at,
    profiles,
    remove_profile,
    use_profile,
)

WORK = Profile("work", "https://api.example.com", "secret-key", read_only=True, colour="red")


def write_config(text: str) -> None:
    file = folders().config_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_fresh_machine_has_the_local_profile_alone() -> None:
    assert profiles() == [Profile("local")]
    assert load_profile().local


def test_folders_follow_the_system(home: Path) -> None:
    assert folders().config_file.is_relative_to(home)
    assert folders().server.is_relative_to(folders().data)


def test_a_profile_comes_back_as_it_was_added() -> None:
    add_profile(WORK)
    assert load_profile("work") == WORK
    assert profiles() == [Profile("local"), WORK]
    assert load_profile().name == "local"


def test_the_key_is_kept_apart_and_readable_by_the_owner_only() -> None:
    add_profile(WORK)
    assert "secret-key" not in folders().config_file.read_text()
    assert "secret-key" in folders().credentials_file.read_text()
    assert stat.S_IMODE(folders().credentials_file.stat().st_mode) == 0o600
    assert "secret-key" not in repr(load_profile("work"))


def test_a_name_wins_over_the_environment_and_that_over_the_default() -> None:
    add_profile(WORK)
    use_profile("work")
    environ = {"CARREL_URL": "http://127.0.0.1:8000/v1/", "CARREL_API_KEY": "k"}
    assert load_profile(environ={}).name == "work"
    assert load_profile(environ=environ) == Profile("environment", "http://127.0.0.1:8000", "k")
    assert load_profile("local", environ).local
    assert load_profile("work", environ).api_key == "secret-key"


def test_the_environments_key_never_goes_to_another_profile() -> None:
    add_profile(Profile("keyless", "https://other.example.com"))
    environ = {"CARREL_API_KEY": "k", "MISTRAL_API_KEY": "m"}
    assert load_profile("keyless", environ).api_key is None
    assert load_profile(environ={**environ, "CARREL_URL": "http://h"}).api_key == "k"
    assert load_profile(environ={"CARREL_URL": "http://h", "MISTRAL_API_KEY": "m"}).api_key is None


def test_removing_takes_the_key_along_and_falls_back_to_local() -> None:
    add_profile(WORK)
    use_profile("work")
    remove_profile("work")
    assert "secret-key" not in folders().credentials_file.read_text()
    assert default_profile() == "local"
    with pytest.raises(ConfigError, match="no profile “work”"):
        load_profile("work")


def test_adding_again_replaces_the_key() -> None:
    add_profile(WORK)
    add_profile(Profile("work", "https://elsewhere.example.com"))
    assert load_profile("work").api_key is None


def test_a_renamed_profile_keeps_its_place_its_key_and_what_is_kept_of_it() -> None:
    add_profile(WORK)
    add_profile(Profile("other", "https://other.example.com"))
    use_profile("work")
    add_profile(replace(load_profile("work"), name="office"), "work")
    assert [one.name for one in profiles()] == ["local", "office", "other"]
    renamed = load_profile()
    assert (renamed.name, renamed.storage_name, renamed.api_key) == ("office", "work", "secret-key")
    add_profile(replace(renamed, name="bureau"), "office")
    add_profile(replace(load_profile("bureau"), colour="red"))
    assert (load_profile().storage_name, load_profile().colour) == ("work", "red")
    # Whoever took that name would see its chats.
    with pytest.raises(ConfigError, match="was the name of another profile"):
        add_profile(WORK)
    add_profile(replace(load_profile(), name="work"), "bureau")
    assert (load_profile().name, load_profile().storage_name) == ("work", "work")


def test_other_settings_survive_a_change_of_profiles() -> None:
    write_config('theme = "dusk"\n')
    add_profile(WORK)
    assert 'theme = "dusk"' in folders().config_file.read_text()


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text("")
    folders().config.mkdir(parents=True)
    folders().config_file.symlink_to(target)
    add_profile(WORK)
    assert folders().config_file.is_symlink()
    assert "work" in target.read_text()


@pytest.mark.parametrize("name", ["sk-4f9Zq27LmB81xTnQ", "carrel_8Hs02kQpLx71Zt", "my key", "k3y"])
def test_an_api_key_is_no_name(name: str) -> None:
    with pytest.raises(ConfigError, match="Type the key into its own field") as refused:
        add_profile(Profile(name, WORK.url, name))
    assert name not in str(refused.value)
    assert [profile.name for profile in profiles()] == ["local"]


@pytest.mark.parametrize("name", ["local", "environment", " ", "..", "a\x1bb"])
def test_some_names_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        add_profile(Profile(name, "https://api.example.com"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("profiles = 3", "must be a table"),
        ("[profiles.work]", "needs a line like"),
        ('[profiles.work]\nurl = "ftp://x"', "is not an address"),
        ('[profiles.work]\nurl = "https://x"\ncolor = "red"', "unknown setting “color”"),
        ('[profiles.work]\nurl = "https://x"\nread_only = 1', "read_only must be true or false"),
        ("default_profile = 1", "must be a name"),
        ('default_profile = "gone"', "carrel profiles use"),
        ("[profiles", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_named_with_what_to_do(text: str, says: str) -> None:
    write_config(text)
    with pytest.raises(ConfigError, match=says) as error:
        load_profile()
    assert str(folders().config_file) in str(error.value)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://api.example.com", "https://api.example.com"),
        (" https://api.example.com/v1/ ", "https://api.example.com"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("https://host/gateway/v1", "https://host/gateway"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_an_address_is_kept_without_what_the_client_adds(given: str, kept: str) -> None:
    assert check_url(given) == kept


@pytest.mark.parametrize("url", ["", "example.com", "ftp://h", "http://", "http://h:99999", "h p"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="not an address"):
        check_url(url)


def test_a_key_in_the_place_of_an_address_or_a_name_is_not_repeated() -> None:
    key = "abcdefghijkl0123456789mnopqrstuv"
    for use in (load_profile, profile_at):
        with pytest.raises(ConfigError, match=r"API key") as error:
            use(key)
        assert key not in str(error.value)


def test_a_secret_in_an_address_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as error:
        check_url("https://user:hunter2@h")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("secret", ["-" * 20 + "a" * 23, "a-b_c-d_e-" * 4 + "fgh"])
def test_a_key_of_the_server_is_no_name_and_no_address(secret: str) -> None:
    key = f"carrel_{secret}"
    for profile in (Profile("work", key), Profile(key, "https://api.example.com")):
        with pytest.raises(ConfigError, match="looks like an API key") as error:
            add_profile(profile)
        assert secret not in str(error.value)


def test_prices_are_kept_and_checked(home: Path) -> None:
    price = Price(2.0, 6.0, "EUR")
    add_profile(Profile("work", "https://api.example.com", prices={"large": price}))
    assert load_profile("work").prices == {"large": price}
    add_profile(Profile("work", "https://api.example.com", "another-key"))
    assert load_profile("work").prices == {"large": price}, "a form has no prices"
    path = folders().config_file
    text = path.read_text()
    for wrong, words in (
        ("output = -1.0", "needs lines like: input = 2.0"),
        ("output = 6.0\nper = 1", "has an unknown setting “per”"),
    ):
        path.write_text(text.replace("output = 6.0", wrong))
        with pytest.raises(ConfigError, match=f"the price of “large” {words}"):
            load_profile("work")
