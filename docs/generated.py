"""The reference pages that are made from the code each time the site is built."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages; MkDocs calls this while it collects the files."""
    for name, make in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content=make()))
    return files


def commands() -> str:
    """Every command with the help that it prints."""
    from typer.main import get_command

    from carrel.cli.main import complete_app

    root = get_command(complete_app())
    parts = ["# Commands", *_helped(root, "carrel")]
    return "\n\n".join(parts) + "\n"


def _helped(command: Any, name: str) -> Iterator[str]:
    context = command.make_context(name, [], resilient_parsing=True, max_content_width=96)
    yield f"{'##' if ' ' not in name else '#' * (name.count(' ') + 1)} {name}"
    yield f"```text\n{command.get_help(context).strip()}\n```"
    for below in getattr(command, "commands", {}).values():
        yield from _helped(below, f"{name} {below.name}")


def keys() -> str:
    """Every key binding of the terminal app by the part of the screen that has it."""
    from textual.keys import format_key

    from carrel.tui.keymap import own_bindings

    rows: dict[str, list[str]] = defaultdict(list)
    for binding_id, (_, binding) in own_bindings().items():
        shown = " ".join(f"`{format_key(key)}`" for key in binding.key.split(","))
        rows[binding_id.partition(".")[0]].append(
            f"| {shown} | {binding.description} | `{binding_id}` |"
        )
    parts = [
        "# Keys",
        "`F1` shows the keys of the place you are in. To change one, name its id under "
        "`[keymap]` in the [settings](settings.md): `carrel config edit`.",
    ]
    for group, lines in sorted(rows.items()):
        parts.append(f"## {group.replace('_', ' ').capitalize()}")
        parts.append("\n".join(["| Key | Action | Id |", "| --- | --- | --- |", *lines]))
    return "\n\n".join(parts) + "\n"


def settings() -> str:
    """The settings of the app and of the server's data folder."""
    from carrel.config.settings import Settings, field_docs
    from carrel.server.settings import FolderSettings, Limits

    server, limits = field_docs(FolderSettings), field_docs(Limits)
    parts = [
        "# Settings",
        "## The terminal app",
        "`carrel config edit` opens the file and checks it; `carrel config show` prints every "
        "setting as it is in force.",
        _setting_table(field_docs(Settings), Settings()),
        "## The server",
        "These stand in `settings.toml` in the server's data folder. The server watches the "
        "file. An option of `carrel serve` wins over it.",
        _setting_table(server, FolderSettings()),
        "## The server's limits",
        "Under `[limits]` in the same file. Sizes are in bytes.",
        _setting_table(limits, Limits()),
    ]
    return "\n\n".join(parts) + "\n"


def _setting_table(described: dict[str, str], defaults: object) -> str:
    lines = ["| Setting | Default | Meaning |", "| --- | --- | --- |"]
    for name, words in described.items():
        default = getattr(defaults, name)
        shown = "" if default is None else f"`{default}`"
        lines.append(f"| `{name}` | {shown} | {' '.join(words.split())} |")
    return "\n".join(lines)


def interface() -> str:
    """Every operation of the server, from its OpenAPI description."""
    described = _openapi()
    rows: dict[str, list[str]] = defaultdict(list)
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            extension = " *(extension)*" if operation.get("x-carrel-extension") else ""
            rows[_area(path)].append(
                f"| `{method.upper()}` | `{path}` | {operation.get('summary', '')}{extension} |"
            )
    parts = [
        "# HTTP interface",
        f"Every operation of Carrel {described['info']['version']}. A running server describes "
        "each with its fields at `/docs`, and for programs at `/openapi.json`. An operation "
        "marked as an extension exists on this server alone.",
    ]
    for area, lines in rows.items():
        parts.append(f"## {area}")
        parts.append("\n".join(["| Method | Path | |", "| --- | --- | --- |", *lines]))
    return "\n\n".join(parts) + "\n"


def _area(path: str) -> str:
    first = path.removeprefix("/v1/").strip("/").partition("/")[0] if "/v1/" in path else "service"
    return first.replace("ocr", "OCR") if first == "ocr" else first.capitalize()


def _openapi() -> dict[str, Any]:
    from carrel.server.app import create_app
    from carrel.server.assembly import Server
    from carrel.server.datadir.folder import DataFolder
    from carrel.server.settings import ServerSettings

    with TemporaryDirectory() as data:
        given = ServerSettings(data=Path(data))
        with DataFolder(given.data) as folder:
            return create_app(Server(given, folder)).openapi()


PAGES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "keys": keys,
    "settings": settings,
    "interface": interface,
}
