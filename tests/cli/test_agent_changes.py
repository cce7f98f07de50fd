"""An agent edited as YAML, and the difference between two versions, in commands."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.command import Ended, carrel
from support.process import RunningServer

Run = Callable[..., Awaitable[Ended]]


@pytest.fixture
def run(server: RunningServer, tmp_path: Path) -> Run:
    """Runs a command with an editor that does what `script` says with `text`."""

    async def run(*arguments: str, script: str = "", code: int = 0) -> Ended:
        program = tmp_path / "editor.py"
        program.write_text(
            "import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n"
            f"{script}\npath.write_text(text)\n"
        )
        ended = await carrel(
            *arguments,
            CARREL_URL=server.url,
            CARREL_API_KEY=server.api_key,
            VISUAL=f"{sys.executable} {program}" if script else "",
        )
        assert ended.code == code, ended
        return ended

    return run


async def test_an_agent_is_edited_as_yaml_and_compared(run: Run) -> None:
    made = ("--model", "smollm2", "--instructions", "Be kind.\nBe brief.")
    agent = (await run("agents", "create", "yaml", *made)).out.strip()
    edited = await run("agents", "edit", agent, script="text = text.replace('kind', 'fair')")
    assert "- Be kind." not in edited.out
    assert "  − Be kind.\n  + Be fair.\n" in edited.err
    assert edited.out == f"{agent}\n"
    same = await run("agents", "edit", agent, script="pass")
    assert "Nothing changed. No version was made." in same.err
    told = await run(
        "agents", "edit", agent, "--temperature", "0.3", "--message", "cooler", "--json"
    )
    assert (told.json["version"], told.json["version_message"]) == (2, "cooler")
    changed = await run("agents", "diff", agent, "0", "v1")
    assert changed.out.splitlines() == [
        "instructions: 1 of 2 lines",
        "  − Be kind.",
        "  + Be fair.",
        "    Be brief.",
    ]
    assert changed.err == "v0 and v1 differ in:\n"
    await run("agents", "alias", agent, "prod", "1")
    assert (await run("agents", "diff", agent, "prod", "--json")).json == [
        {"field": "temperature", "change": "added", "new": "0.3"}
    ]
    assert (await run("agents", "diff", agent, "2")).err == "v2 and v2 do not differ.\n"
    await run("agents", "delete", agent)


async def test_yaml_that_is_wrong_is_kept_for_the_next_time(run: Run) -> None:
    agent = (await run("agents", "create", "wrong", "--model", "smollm2")).out.strip()
    wrong = "text = text.replace('name: wrong', 'nome: right')"
    refused = await run("agents", "edit", agent, script=wrong, code=2)
    assert "nome: did you mean name? Your text is in" in refused.err
    mended = "text = text.replace('nome', 'name')"
    assert (await run("agents", "edit", agent, "--json", script=mended)).json["name"] == "right"
    failed = await run("agents", "edit", agent, script="sys.exit(4)", code=1)
    assert "ended with the code 4, so nothing was taken" in failed.err
    await run("agents", "delete", agent)


async def test_without_an_editor_what_to_change_has_to_be_said(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    refused = await run("agents", "edit", "any", code=2)
    assert "Nothing to change" in refused.err
