"""Profiles and folders: the services to use, and Carrel's folders on this machine.

`config.toml` names the profiles, `credentials.toml` (readable by its owner only) holds their keys:

    default_profile = "work"

    [profiles.work]
    url = "https://api.example.com"
    read_only = true
    colour = "red"
    kept_as = "office"               # its name before it was renamed

    [profiles.work.prices.large]     # a million tokens of the model “large”
    input = 2.0
    output = 6.0
    currency = "EUR"
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from carrel.config import toml_edit
from carrel.config.keys import looks_like_key
from carrel.system.atomic import write_private

LOCAL = "local"
"""The profile that always exists: the bundled server, found or started."""

ENVIRONMENT = "environment"
"""Name of the profile made from CARREL_URL and CARREL_API_KEY."""

KEY_VARIABLES = ("CARREL_API_KEY", "MISTRAL_API_KEY")
"""Environment variables for API keys; the first that is set is used. No child process inherits
them."""


class ConfigError(Exception):
    """An invalid setting; the message names its place and the next step."""


@dataclass(frozen=True)
class Price:
    """The price of a million input tokens and of a million output tokens."""

    input: float
    output: float
    currency: str = "USD"


@dataclass(frozen=True)
class Profile:
    """A service to use. Without a url it is the bundled server.

    `prices` are by model, as far as set; none is guessed. `home` is a separate folder for all local
    data of the profile, including its bundled server's; by default the user's folders. `kept_as` is
    its original name if it was renamed.
    """

    name: str
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    read_only: bool = False
    colour: str | None = None
    prices: Mapping[str, Price] = field(default_factory=dict, hash=False)
    home: Path | None = None
    kept_as: str | None = None

    @property
    def storage_name(self) -> str:
        """The name of the profile's local data, such as chats; a renaming keeps it."""
        return self.kept_as or self.name

    @property
    def folders(self) -> "Folders":
        """The folders of all its local data."""
        return folders() if self.home is None else Folders(*(self.home / part for part in PARTS))

    @property
    def local(self) -> bool:
        """Whether it is the bundled server, which is found or started."""
        return self.url is None

    @property
    def service(self) -> str:
        """The identity of its service; fixed for the bundled server, whose address may change."""
        return self.url or LOCAL


PARTS = ("config", "data", "state", "cache")
"""The subfolders of a home, in the order of the fields of `Folders`."""


@dataclass(frozen=True)
class Folders:
    """The system's folders for configuration, data, logs with crash reports, and caches."""

    config: Path
    data: Path
    state: Path
    cache: Path

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"

    @property
    def credentials_file(self) -> Path:
        return self.config / "credentials.toml"

    @property
    def server(self) -> Path:
        """The bundled server's data folder."""
        return self.data / "server"

    @property
    def sync(self) -> Path:
        """Records of synced folders."""
        return self.data / "sync"

    @property
    def evals(self) -> Path:
        """Runs of test cases."""
        return self.data / "evals"


def folders() -> Folders:
    """Return the current user's folders without creating them."""
    dirs = platformdirs.PlatformDirs("carrel", appauthor=False)
    return Folders(
        config=dirs.user_config_path,
        data=dirs.user_data_path,
        state=dirs.user_state_path,
        cache=dirs.user_cache_path,
    )


def load_profile(name: str | None = None, environ: Mapping[str, str] = os.environ) -> Profile:
    """Return the profile to use: the named one, else CARREL_URL's, else the default, else `local`.

    Raises:
        ConfigError: there is no such profile, or a setting is wrong.
    """
    if name is None and environ.get("CARREL_URL"):
        try:
            url = check_url(environ["CARREL_URL"])
        except ConfigError as error:
            raise ConfigError(f"CARREL_URL: {error}") from error
        return Profile(ENVIRONMENT, url, environ.get("CARREL_API_KEY") or None)
    wanted = name or default_profile()
    for profile in profiles():
        if profile.name == wanted:
            return profile
    if name is None:
        raise ConfigError(
            f"{folders().config_file}: the default profile “{wanted}” does not exist. "
            "Choose another with: carrel profiles use NAME"
        )
    if looks_like_key(wanted):
        raise ConfigError("There is no profile of this name, which looks like an API key.")
    raise ConfigError(
        f"There is no profile “{wanted}”. See: carrel profiles list, or add it with: "
        f"carrel profiles add {wanted} --url ADDRESS"
    )


def profile_at(url: str, api_key: str | None = None) -> Profile:
    """Return an unsaved profile of an address, named after its host.

    Raises:
        ConfigError: the address is invalid.
    """
    checked = check_url(url)
    return Profile(urlsplit(checked).netloc, checked, api_key or None)


def profiles() -> list[Profile]:
    """Return all profiles, `local` first, the others in the file's order."""
    config = read_toml(folders().config_file)
    keys = read_toml(folders().credentials_file)
    found = [Profile(LOCAL)]
    for name, table in _tables(config, "profiles").items():
        if name != LOCAL:
            found.append(_profile(name, table, keys.get(name)))
    return found


def default_profile() -> str:
    """Return the name of the default profile."""
    name = read_toml(folders().config_file).get("default_profile", LOCAL)
    if not isinstance(name, str):
        raise ConfigError(f"{folders().config_file}: default_profile must be a name in quotes.")
    return name


def check_name(profile: Profile, instead_of: str | None = None) -> None:
    """Refuse a name that is reserved, taken, unprintable or an API key.

    Raises:
        ConfigError: the name is refused; the message tells the reason.
    """
    if profile.name in (LOCAL, ENVIRONMENT):
        raise ConfigError(f"The name “{profile.name}” is taken. Choose another name.")
    others = [one for one in profiles() if one.name not in (profile.name, instead_of)]
    if profile.name in {other.kept_as for other in others}:
        raise ConfigError(f"“{profile.name}” was the name of another profile. Choose another name.")
    # Also a folder name, so dots alone are invalid.
    if not profile.name.strip(" .") or not profile.name.isprintable():
        raise ConfigError("A profile needs a name of printable characters.")
    # Names are shown, also on a shared screen.
    if looks_like_key(profile.name) or profile.name == profile.api_key:
        raise ConfigError("This name looks like an API key. Type the key into its own field.")


def add_profile(profile: Profile, instead_of: str | None = None) -> None:
    """Save a profile, replacing one of the same name. Its key goes into the credentials file.

    It replaces the profile named `instead_of`, if given, and takes over its local data.
    """
    check_name(profile, instead_of)
    old = instead_of or profile.name
    if profile.url is None:
        raise ConfigError(f"The profile “{profile.name}” needs the address of a service.")
    table: dict[str, Any] = {"url": check_url(profile.url)}
    if profile.read_only:
        table["read_only"] = True
    if profile.colour:
        table["colour"] = profile.colour
    config, keys = read_toml(folders().config_file), read_toml(folders().credentials_file)
    tables = _tables(config, "profiles")
    before = tables.get(old, {})
    prices = {model: asdict(price) for model, price in profile.prices.items()}
    # A form has no prices: those in the file stay.
    if prices := prices or (before.get("prices") if isinstance(before, dict) else None) or {}:
        table["prices"] = prices
    if old != profile.name:
        table["kept_as"] = before.get("kept_as", old)
        if config.get("default_profile") == old:
            config["default_profile"] = profile.name
    elif profile.kept_as:
        table["kept_as"] = profile.kept_as
    tables = {**tables, old: table}
    config["profiles"] = {profile.name if at == old else at: tables[at] for at in tables}
    keys.pop(old, None)
    if profile.api_key:
        keys[profile.name] = {"api_key": profile.api_key}
    # The key first: an existing profile always has its key.
    _write(folders().credentials_file, keys)
    _write(folders().config_file, config)


def remove_profile(name: str) -> None:
    """Remove a profile and its key. If it was the default, `local` becomes the default."""
    config, keys = read_toml(folders().config_file), read_toml(folders().credentials_file)
    tables = _tables(config, "profiles")
    if name == LOCAL:
        raise ConfigError("The profile “local” is the bundled server and cannot be removed.")
    if name not in tables:
        raise ConfigError(f"There is no profile “{name}”. See: carrel profiles list")
    config["profiles"] = {key: table for key, table in tables.items() if key != name}
    if config.get("default_profile") == name:
        del config["default_profile"]
    keys.pop(name, None)
    _write(folders().config_file, config)
    _write(folders().credentials_file, keys)


def use_profile(name: str) -> None:
    """Make a profile the default."""
    if name not in {profile.name for profile in profiles()}:
        raise ConfigError(f"There is no profile “{name}”. See: carrel profiles list")
    config = read_toml(folders().config_file)
    config["default_profile"] = name
    _write(folders().config_file, config)


def on_this_machine(url: str | None) -> bool:
    """Return whether an address is local; None is the bundled server."""
    return url is None or urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def check_url(url: str) -> str:
    """Return the normal form of a service's address: without a trailing slash or `/v1`.

    Raises:
        ConfigError: it is not an http or https address, or has more than host and path.
    """
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        if looks_like_key(url):
            raise ConfigError("This address looks like an API key.")
        raise ConfigError(f"“{url}” is not an address like https://api.example.com")
    if parts.username or parts.password or parts.query or parts.fragment:
        # The address is not repeated: it may contain a secret.
        raise ConfigError("An address carries no user name, password or query: leave them out.")
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _profile(name: str, table: Any, credentials: Any) -> Profile:
    where = f"{folders().config_file}: profile “{name}”"
    if not isinstance(table, dict) or not isinstance(table.get("url"), str):
        raise ConfigError(f'{where} needs a line like: url = "https://api.example.com"')
    kinds = {"url": str, "read_only": bool, "colour": str, "kept_as": str, "prices": dict}
    for key, value in table.items():
        if key not in kinds:
            raise ConfigError(f"{where} has an unknown setting “{key}”. Known: {', '.join(kinds)}.")
        if not isinstance(value, kinds[key]):
            wanted = {bool: "true or false", dict: "tables like [profiles.NAME.prices.MODEL]"}
            raise ConfigError(
                f"{where}: {key} must be {wanted.get(kinds[key], 'a text in quotes')}."
            )
    try:
        url = check_url(table["url"])
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    key = credentials.get("api_key") if isinstance(credentials, dict) else None
    return Profile(
        name,
        url,
        key if isinstance(key, str) else None,
        read_only=table.get("read_only", False),
        colour=table.get("colour"),
        kept_as=table.get("kept_as"),
        prices={
            model: _price(f"{where}: the price of “{model}”", values)
            for model, values in table.get("prices", {}).items()
        },
    )


def _price(where: str, values: Any) -> Price:
    table: dict[str, Any] = values if isinstance(values, dict) else {}
    numbers = [
        float(number)
        for number in (table.get("input"), table.get("output"))
        if isinstance(number, int | float) and not isinstance(number, bool) and number >= 0
    ]
    if len(numbers) != 2 or not isinstance(table.get("currency", ""), str):
        raise ConfigError(f'{where} needs lines like: input = 2.0, output = 6.0, currency = "EUR"')
    if unknown := table.keys() - {"input", "output", "currency"}:
        raise ConfigError(f"{where} has an unknown setting “{min(unknown)}”.")
    return Price(numbers[0], numbers[1], table.get("currency", Price.currency))


def _tables(config: dict[str, Any], name: str) -> dict[str, Any]:
    tables = config.get(name, {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{folders().config_file}: {name} must be a table, [{name}.NAME].")
    return tables


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; empty if it is missing.

    Raises:
        ConfigError: the file cannot be read, or is not TOML.
    """
    try:
        return toml_edit.parse(read_text(path))
    except tomllib.TOMLDecodeError as error:
        # The parser quotes no values, so its message is safe for credentials too.
        raise ConfigError(f"{path} is not valid TOML: {error}. Mend that line.") from error


def _write(path: Path, content: dict[str, Any]) -> None:
    import tomli_w

    write_text(path, tomli_w.dumps(content))


def read_text(path: Path) -> str:
    """Return the text of a file, or an empty string if it is missing.

    Raises:
        ConfigError: the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"{path} cannot be read: {reason}.") from error


def write_text(path: Path, text: str) -> None:
    """Write a file atomically, readable by its owner only.

    Raises:
        ConfigError: the file cannot be written.
    """
    path = path.resolve()  # a link, such as into a dotfiles repository, stays a link
    try:
        write_private(path, text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
