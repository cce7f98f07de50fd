"""The files of `deploy/`: each command parses, each variable, setting and file is one."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from carrel.cli.main import complete_app
from carrel.server.settings import FolderSettings, Limits
from support.requires import systemd_analyze

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "carrel"}
_VARIABLE = re.compile(r"\$\{(\w+):\?\}")
_ELSEWHERE = {"PGPASSWORD"}
"""Variables that libpq reads."""


def _parsed(words: list[str]) -> dict[str, Any]:
    """The parameters of a command line of `carrel`."""
    root = get_command(complete_app())
    name, *rest = words
    command = root.commands[name]  # type: ignore[attr-defined]
    while hasattr(command, "commands"):
        name, *rest = rest
        command = command.commands[name]
    parameters: dict[str, Any] = command.make_context(name, list(rest)).params
    return parameters


def _command_lines(service: dict[str, Any]) -> list[list[str]]:
    words = [str(word) for word in service["command"]]
    if service.get("entrypoint") == ["sh", "-c"]:
        lines = re.split(r"\|\|?", " ".join(words))
        return [line.split()[1:] for line in lines if line.split()[0] == "carrel"]
    return [[_VARIABLE.sub("http://127.0.0.1:1", word) for word in words]]


@pytest.mark.parametrize("name", OURS)
def test_each_command_is_one_of_ours(name: str) -> None:
    lines = _command_lines(OURS[name])
    assert lines
    for line in lines:
        assert _parsed(line)


def test_there_are_two_of_each_and_they_share_a_storage() -> None:
    servers, workers = (
        [_parsed(_command_lines(OURS[f"{kind}-{n}"])[0]) for n in (1, 2)]
        for kind in ("server", "worker")
    )
    assert len({(one["database"], one["blobs"]) for one in (*servers, *workers)}) == 1
    assert all(one["no_worker"] for one in servers)
    folders = [OURS[f"{kind}-{n}"]["volumes"] for kind in ("server", "worker") for n in (1, 2)]
    assert len({str(folder) for folder in folders}) == 4


def test_each_variable_is_in_the_example_and_is_read() -> None:
    named = set(_VARIABLE.findall((DEPLOY / "compose.yaml").read_text("utf-8")))
    example = (DEPLOY / "example.env").read_text("utf-8")
    assert named == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    for service in OURS.values():
        for variable in set(service["environment"]) - _ELSEWHERE:
            assert f'"{variable}"' in source, variable


def test_what_services_wait_for_and_keep_exists() -> None:
    for service in SERVICES.values():
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        for volume in service.get("volumes", ()):
            source = _VARIABLE.sub("/variable", volume).partition(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists()
            elif not source.startswith("/"):
                assert source in COMPOSE["volumes"]
    proxied = re.findall(r"server ([\w-]+):8080", (DEPLOY / "nginx.conf").read_text("utf-8"))
    assert proxied == SERVICES["balancer"]["depends_on"]


def test_the_container_copies_what_exists_and_starts_a_server() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
    [words] = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    parsed = _parsed(yaml.safe_load(words))
    assert (parsed["host"], parsed["port"]) == ("0.0.0.0", 8080)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for extra in re.findall(r"--extra (\w+)", text):
        assert f"\n{extra} = [" in project


UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_each_unit_runs_a_command_of_ours(unit: Path) -> None:
    text = unit.read_text("utf-8")
    [line] = re.findall(r"/opt/carrel/bin/carrel ((?:[^'\n])+)", text.partition("ExecStart=")[2])[
        :1
    ]
    words = re.sub(r"\$\{\w+\}|\$\$\([^)]*\)", "x", line).split()
    assert _parsed(words)
    for environment in re.findall(r"\$\{(\w+)\}", line):
        assert f"#   {environment}=" in text


@pytest.mark.parametrize("name", [*(unit.name for unit in UNITS), "carrel-backup.timer"])
def test_systemd_takes_each_unit(name: str, tmp_path: Path) -> None:
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text("utf-8").replace("/opt/carrel/bin/carrel", sys.executable)
        (tmp_path / unit.name.replace("@", "@1")).write_text(text)
    command = [systemd_analyze(), "verify", "--man=no", str(tmp_path / name.replace("@", "@1"))]
    done = subprocess.run(command, capture_output=True, text=True)
    # An unknown setting is a warning.
    assert (done.returncode, done.stderr) == (0, "")


def test_the_settings_for_a_team_are_settings() -> None:
    settings = FolderSettings.load(DEPLOY / "settings.toml")
    assert settings.public_url
    assert settings.limits.file_bytes < Limits().file_bytes
