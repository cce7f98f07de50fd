"""Agents as files: starting points, export and import, plan and apply."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from carrel.client import Client
from carrel.store.agents.definitions import Names, read_definitions
from carrel.store.agents.starters import starters
from carrel.wire.generation.agents import AgentCreate, AgentUpdate
from support.command import Ended, carrel
from support.process import RunningServer

Run = Callable[..., Awaitable[Ended]]

LOOKUP = {
    "type": "function",
    "function": {"name": "lookup", "parameters": {"type": "object", "properties": {}}},
}
SUPPORT = """\
name: {name}
model: smollm2
instructions: |
  Be kind.
  Be brief.
libraries:
- {library}
tools:
- type: function
  function:
    name: lookup
    parameters:
      type: object
      properties: {{}}
completion_args:
  temperature: 0.2
"""


@pytest.fixture
def run(server: RunningServer) -> Run:
    async def run(*arguments: str | Path, code: int = 0) -> Ended:
        ended = await carrel(*arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)
        assert ended.code == code, ended
        return ended

    return run


async def test_an_agent_is_made_from_a_starting_point(run: Run) -> None:
    listed = (await run("agents", "new")).out
    assert all(one.name in listed for one in starters())
    made = (await run("agents", "new", "reader", "--from", "invoices", "--json")).json
    assert made["name"] == "reader"
    schema = made["completion_args"]["response_format"]["json_schema"]
    assert schema["name"] == "invoice"
    refused = await run("agents", "new", "--from", "support", code=2)
    assert "name it with --library" in refused.err
    await run("libraries", "create", "starters")
    over = (await run("agents", "new", "--from", "support", "--library", "starters", "--json")).json
    assert over["tools"][0]["type"] == "document_library"
    unknown = await run("agents", "new", "--from", "poet", code=2)
    assert "Known: contracts, invoices, minutes, support, translator." in unknown.err
    for agent in (made, over):
        await run("agents", "delete", agent["id"])


def test_every_starting_point_is_valid_and_exports_as_it_is() -> None:
    found = starters()
    assert [one.name for one in found] == [
        "contracts", "invoices", "minutes", "support", "translator",
    ]  # fmt: skip
    for one in found:
        assert one.about and one.draft("m").create().instructions
        assert one.path.read_text(encoding="utf-8").startswith("# ")


async def test_files_are_applied_once_and_then_change_nothing(run: Run, tmp_path: Path) -> None:
    await run("libraries", "create", "manuals")
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "a.yaml").write_text(SUPPORT.format(name="front desk", library="manuals"))
    (folder / "b.yaml").write_text("name: router\nmodel: smollm2\nhandoffs: [front desk]\n")
    planned = await run("agents", "plan", folder, code=4)
    assert "+ front desk: new agent" in planned.out
    assert planned.out.index("front desk") < planned.out.index("router")
    applied = await run("agents", "apply", folder)
    assert "front desk: made, v0." in applied.err
    assert "router: made, v0." in applied.err
    again = await run("agents", "apply", folder)
    assert "front desk: in step with v0." in again.err
    assert (await run("agents", "plan", folder)).out.splitlines() == [
        "= front desk: in step with v0",
        "= router: in step with v0",
    ]
    assert len((await run("agents", "versions", "front desk", "--json")).json) == 1
    changed = SUPPORT.format(name="front desk", library="manuals").replace("Be kind", "Be fair")
    (folder / "a.yaml").write_text(changed)
    planned = await run("agents", "plan", folder, code=4)
    assert "~ front desk: v0 → v1 · 1 change" in planned.out
    assert "    − Be kind.\n    + Be fair.\n" in planned.out
    assert "front desk: is now v1." in (await run("agents", "apply", folder)).err
    assert "in step with v1" in (await run("agents", "plan", folder)).out


async def test_two_first_runs_at_once_make_one_agent_and_one_library(
    run: Run, server: RunningServer, tmp_path: Path
) -> None:
    agent, folder = tmp_path / "twin.yaml", tmp_path / "folder"
    agent.write_text("name: twin\nmodel: smollm2\ninstructions: Be one.\n")
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("two")
    await asyncio.gather(
        *(run("agents", "apply", agent) for _ in range(3)),
        *(run("sync", each, "--library", "twin") for each in (folder, other)),
    )
    for noun in ("agents", "libraries"):
        listed = (await run(noun, "list", "--json")).json
        assert [each["name"] for each in listed if each["name"] == "twin"] == ["twin"]


async def test_a_change_at_the_service_is_shown_and_kept(
    run: Run, server: RunningServer, tmp_path: Path
) -> None:
    path = tmp_path / "clerk.yaml"
    path.write_text("name: clerk\nmodel: smollm2\ninstructions: Be brief.\n")
    await run("agents", "apply", path)
    await run("agents", "edit", "clerk", "--temperature", "0.9")
    planned = await run("agents", "plan", path, code=5)
    assert "  ! changed at the service since v0: 1 change\n" in planned.out
    assert "    temperature: + 0.9\n" in planned.out
    refused = await run("agents", "apply", path, code=5)
    assert "Nothing was sent: clerk was changed at the service." in refused.err
    assert (await run("agents", "show", "clerk", "--json")).json["version"] == 1
    # What the service has is taken over into the file: nothing is left to do.
    exported = (await run("agents", "export", "clerk")).out
    path.write_text(exported)
    assert "in step with v1" in (await run("agents", "apply", path)).err
    path.write_text(exported.replace("Be brief.", "Be short."))
    assert "is now v2" in (await run("agents", "apply", path)).err
    await run("agents", "switch", "clerk", "0")
    plan = (await run("agents", "plan", path, "--json", code=5)).json
    assert [one["field"] for one in plan[0]["drift"]] == ["instructions", "temperature"]
    assert "is now v3" in (await run("agents", "apply", path, "--overwrite")).err
    await run("agents", "plan", path)


async def test_an_agent_that_was_never_applied_is_not_replaced_unasked(
    run: Run, tmp_path: Path
) -> None:
    await run("agents", "create", "by hand", "--model", "smollm2", "--instructions", "Be kind.")
    path = tmp_path / "hand.yaml"
    path.write_text("name: by hand\ninstructions: Be fair.\n")
    planned = await run("agents", "plan", path, code=5)
    assert "not made from this file" in planned.out
    refused = await run("agents", "apply", path, code=5)
    assert "Nothing was sent: by hand was not made from these files." in refused.err
    await run("agents", "apply", path, "--overwrite")
    shown = (await run("agents", "show", "by hand", "--json")).json
    assert (shown["instructions"], shown["model"]) == ("Be fair.", "smollm2")


async def test_an_exported_file_is_edited_and_applied(run: Run, tmp_path: Path) -> None:
    made = ("--model", "smollm2", "--instructions", "Be kind.")
    await run("agents", "create", "exported", *made)
    await run("agents", "export", "exported", "--out", tmp_path)
    path = tmp_path / "exported.yaml"
    path.write_text(path.read_text().replace("Be kind.", "Be fair."))
    await run("agents", "edit", "exported", "--temperature", "0.9")
    planned = await run("agents", "plan", path, code=5)
    assert "  ! changed at the service since v0: 1 change\n" in planned.out
    await run("agents", "switch", "exported", "0")
    assert "is now v2" in (await run("agents", "apply", path)).err
    path.write_text(path.read_text().replace("Be fair.", "Be brief."))
    assert "is now v3" in (await run("agents", "apply", path)).err
    # A file of one agent says nothing about another of the same name.
    await run("agents", "delete", "exported")
    await run("agents", "create", "exported", *made)
    assert "was not made from" in (await run("agents", "apply", path, code=5)).err


async def test_an_agent_is_deleted_only_when_that_is_asked(run: Run, tmp_path: Path) -> None:
    kept, gone = tmp_path / "kept.yaml", tmp_path / "gone.yaml"
    kept.write_text("name: kept\nmodel: smollm2\n")
    gone.write_text("name: gone\nmodel: smollm2\n")
    await run("agents", "apply", kept, gone)
    await run("agents", "apply", kept)
    await run("agents", "show", "gone")
    planned = await run("agents", "plan", kept, "--delete", "gone", code=4)
    assert "- gone: to delete, with 1 version\n" in planned.out
    assert "gone: deleted." in (await run("agents", "apply", kept, "--delete", "gone")).err
    await run("agents", "plan", kept, "--delete", "gone")
    both = await run("agents", "plan", kept, "--delete", "kept", code=1)
    assert "to be deleted, and defined in a file" in both.err


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("name: x\nmodel: m\ninstuctions: a\n", 3, "did you mean instructions?"),
        ("name: x\nmodel: m\nlibraries:\n- nowhere\n", 4, "There is no library “nowhere”"),
        ("name: x\nmodel: m\nhandoffs: [nobody]\n", 3, "There is no agent “nobody”"),
        ("name: x\n---\nname: x\n", 3, "The same agent is defined in"),
        ("name: x\nhandoffs: [y]\n---\nname: y\nhandoffs: [x]\n", 2, "in a circle: x → y → x"),
    ],
)
async def test_a_mistake_is_named_before_anything_is_sent(
    run: Run, tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    for command in ("plan", "apply", "import"):
        refused = await run("agents", command, path, code=2)
        assert f"{path}, line {line}: " in refused.err
        assert reason in refused.err


async def test_agents_move_to_another_service_as_files(
    run: Run, server: RunningServer, tmp_path: Path
) -> None:
    async with Client(server.url, server.api_key) as client:
        library = await client.libraries.create(name="moved")
        made = await client.agents.create(
            AgentCreate.model_validate(
                {
                    "name": "mover",
                    "model": "smollm2",
                    "instructions": "One.\nTwo.",
                    "tools": [{"type": "document_library", "library_ids": [library.id]}, LOOKUP],
                    "completion_args": {"temperature": 0.5},
                    "metadata": {"team": "desk"},
                }
            )
        )
        text = Names({library.id: "moved"}, {}).text(made)
        assert text.endswith(f"exported:\n  agent: {made.id}\n  version: 0\n")
        assert library.id not in text
        assert "instructions: |-\n  One.\n  Two.\n" in text
        paths = (await run("agents", "export", "mover", "--out", tmp_path / "out")).out.split()
        assert (tmp_path / "out" / "mover.yaml").read_text() == text
        assert read_definitions([Path(paths[0])])[0].definition.libraries == ["moved"]
        taken = await run("agents", "import", *paths, code=1)
        assert "There is an agent “mover” already." in taken.err
        await client.agents.delete(made.id)
        again = await client.agents.get((await run("agents", "import", *paths)).out.strip())
        assert again.instructions == made.instructions
        assert again.metadata == made.metadata
        assert sorted(map(json.dumps, again.tools)) == sorted(map(json.dumps, made.tools))
        # Whatever the order of its tools, and whichever defaults the service names.
        assert "in step" in (await run("agents", "plan", *paths)).out


async def test_a_plan_that_is_out_of_date_is_not_carried_out(
    server: RunningServer, tmp_path: Path
) -> None:
    from carrel.store.agents.plan import carry_out, make_plan
    from carrel.store.core.problem import ProblemError

    path = tmp_path / "late.yaml"
    path.write_text("name: late\nmodel: smollm2\ninstructions: One.\n")
    async with Client(server.url, server.api_key) as client:
        (made,) = [step async for step in carry_out(client, await make_plan(client, [path]))]
        assert made.agent is not None
        path.write_text("name: late\nmodel: smollm2\ninstructions: Two.\n")
        plan = await make_plan(client, [path])
        await client.agents.update(made.agent.id, AgentUpdate(instructions="Three."))
        with pytest.raises(ProblemError, match="The plan is out of date"):
            _ = [step async for step in carry_out(client, plan)]
        assert (await client.agents.get(made.agent.id)).instructions == "Three."
