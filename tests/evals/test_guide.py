"""The eval set of this repository, against the bundled server with its own model."""

from pathlib import Path
from xml.etree import ElementTree

from carrel import samples
from support.command import Ended, carrel
from support.process import RunningServer

EVALS = Path(__file__).parents[2] / "evals"


async def test_the_set_passes_with_the_model_that_is_bundled(
    server: RunningServer, tmp_path: Path
) -> None:
    async def run(*arguments: str | Path, code: int = 0) -> Ended:
        ended = await carrel(*arguments, CARREL_URL=server.url, CARREL_API_KEY=server.api_key)
        assert ended.code == code, ended
        return ended

    document = tmp_path / "guide.pdf"
    document.write_bytes(samples.content())
    await run("libraries", "create", "guide")
    await run("libraries", "add", "guide", document, "--wait")
    await run("agents", "apply", EVALS / "agent.yaml")
    await run("agents", "plan", EVALS / "agent.yaml")
    junit = tmp_path / "junit.xml"
    tried = ("agents", "try", "guide", "--set", EVALS / "guide.yaml", "--seed", "1")
    first = (await run(*tried, "--junit", junit, "--json")).json[0]
    assert [one["result"] for one in first["cases"]] == ["passed"] * 3, first
    assert all(one["tokens"] > 0 and one["seconds"] > 0 for one in first["cases"])
    assert ElementTree.parse(junit).getroot().get("failures") == "0"
    again = (await run(*tried, "--baseline", first["id"], "--json")).json[0]
    assert not again["worse"]
