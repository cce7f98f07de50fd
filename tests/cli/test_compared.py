"""One question to agents, versions and files, and votes, by commands against a real server."""

from pathlib import Path

from carrel.client import Client
from support.command import Ended, carrel
from support.process import RunningServer
from support.spoken import SpokenModel


async def test_another_agent_and_a_file_are_asked_the_same(
    talking: tuple[RunningServer, SpokenModel], model: SpokenModel, tmp_path: Path
) -> None:
    server = talking[0]

    async def run(*arguments: str) -> Ended:
        return await carrel(*arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)

    path = tmp_path / "tried.yaml"
    path.write_text("name: tried\ninstructions: Be brief.\n")
    for name in ("echo", "parrot"):
        await run("agents", "create", name, "--model", "spoken")
    asked = ("chat", "echo", "hello", "--beside", "parrot", "--beside", str(path))
    ended = await run(*asked)
    assert ended.code == 0, ended
    heads = [line for line in ended.out.splitlines() if line.startswith("## ")]
    assert heads == ["## echo v0", "## parrot v0", "## tried draft"]
    assert ended.err.count(" tokens") == 3, ended.err
    answers = (await run(*asked, "--version", "0", "--json")).json
    assert [(one["agent"], one["version"]) for one in answers] == [
        ("echo", 0), ("parrot", 0), ("tried", None),
    ]  # fmt: skip
    async with Client(server.url, server.api_key) as client:
        names = [agent.name async for agent in client.agents.every()]
    assert sorted(names) == ["echo", "parrot"], "nothing is left behind"
    path.write_text("name: tried\ninstuctions: Be brief.\n")
    refused = await run(*asked)
    assert refused.code == 2 and "line 2: instuctions: did you mean" in refused.err
    unknown = await run("chat", "echo", "?", "--beside", "nobody")
    assert "There is no agent “nobody”" in unknown.err
    none = await run("agents", "votes")
    assert (none.code, none.out) == (0, "") and "No answers were judged yet" in none.err
