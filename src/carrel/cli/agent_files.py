"""Agents as files: `carrel agents new`, `export`, `import`, `plan` and `apply`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carrel.cli import output
from carrel.cli.agent_changes import change_as_json, library_names
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import find_agent, find_library
from carrel.cli.options import JSONOption, ProfileOption, argument, flag, option
from carrel.cli.session import check_writable, run, with_client
from carrel.config.profiles import load_profile

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.agents.plan import Plan, Step
    from carrel.store.agents.starters import Starter
    from carrel.wire.generation.agents import Agent

DefinitionsArgument = Annotated[
    list[Path], argument("FILE...", "YAML files of agents, or folders of them.")
]
DeleteOption = Annotated[
    list[str] | None, option("AGENT", "Also delete this agent, by its name; repeatable.")
]


def new(
    name: Annotated[
        str | None, argument("NAME", "The agent's name. Default: the starting point's.")
    ] = None,
    start: Annotated[
        str | None, option("START", "The starting point; without it, a list.", "--from")
    ] = None,
    model: Annotated[
        str | None, option("MODEL", "The model. Default: the first of the service.")
    ] = None,
    library: Annotated[
        list[str] | None, option("LIBRARY", "A library to search, by id or name; repeatable.")
    ] = None,
    file: Annotated[
        bool, flag("--file", "Print the definition for a file, and make no agent.")
    ] = False,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Make an agent from a starting point, or list the starting points. Prints its id."""
    from carrel.store.agents.starters import starters

    if start is None:
        rows = [(starter.name, starter.about) for starter in starters()]
        if json:
            output.as_json([{"name": name, "description": about} for name, about in rows])
        else:
            output.table(["START", "DESCRIPTION"], rows)
        return
    starter = next((known for known in starters() if known.name == start), None)
    if starter is None:
        names = ", ".join(known.name for known in starters())
        raise CommandError(f"There is no starting point “{start}”. Known: {names}.", Code.USAGE)
    if file:
        print(starter.path.read_text(encoding="utf-8"), end="")
        return
    if starter.definition.libraries and not library:
        raise CommandError(
            f"{start} answers from a library: name it with --library. See: carrel libraries list",
            Code.USAGE,
        )

    made = run(
        profile, lambda client: _make(client, starter, name, model, library or []), changes=True
    )
    output.report_new(
        made, f"Made {output.one_line(made.name)} v{made.version} with {made.model}.", json
    )


@with_client()
async def export(
    client: "Client",
    agents: Annotated[
        list[str] | None, argument("AGENT...", "Agents by id or name. Default: all.")
    ] = None,
    out: Annotated[Path | None, option("FOLDER", "Write a file for each into FOLDER.")] = None,
) -> None:
    """Print agents as YAML, with names in place of the service's ids."""
    from carrel.store.agents.definitions import Names
    from carrel.store.agents.trials import is_trial

    every = [agent async for agent in client.agents.every() if not is_trial(agent)]
    wanted = [await find_agent(client, name) for name in agents] if agents else every
    names = Names(await library_names(client), {agent.id: agent.name for agent in every})
    texts = [(agent, names.text(agent)) for agent in wanted]
    if out is None:
        print("---\n".join(text for _, text in texts), end="")
        return
    for path, text in _paths(out, texts):
        path.write_text(text, encoding="utf-8")
        output.data(str(path))


@with_client(changes=True)
async def import_(
    client: "Client", definitions: DefinitionsArgument, json: JSONOption = False
) -> None:
    """Make new agents from files. Prints their ids.

    Nothing is made if one of the names is taken: `carrel agents apply` changes agents.
    """
    from carrel.store.agents.plan import carry_out, make_plan

    plan = await make_plan(client, definitions)
    if taken := [step.name for step in plan.steps if step.kind != "create"]:
        raise CommandError(
            f"There is an agent “{output.one_line(taken[0])}” already. To change it, use: "
            "carrel agents apply"
        )
    made = [step.agent async for step in carry_out(client, plan) if step.agent]
    if json:
        output.as_json(made)
        return
    for agent in made:
        output.data(agent.id)


def plan(
    definitions: DefinitionsArgument,
    delete: DeleteOption = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Compare agents with their files, and change nothing.

    Shows what apply would change, and what was changed at the service that the files do not know.
    Exit code 4: apply would change something; 5: it would overwrite a change of the service.
    """
    from carrel.store.agents.plan import make_plan, plan_lines

    made = run(profile, lambda client: make_plan(client, definitions, delete or []))
    if json:
        output.as_json([_step_as_json(step) for step in made.steps])
    else:
        for line in plan_lines(made):
            output.data(line)
    if made.pending:
        raise typer.Exit(Code.DRIFT if made.drifted else Code.DIFFERENT)


def apply(
    definitions: DefinitionsArgument,
    delete: DeleteOption = None,
    overwrite: Annotated[
        bool, flag("--overwrite", "Replace what was changed at the service.")
    ] = False,
    yes: Annotated[bool, flag("--yes", "Do not ask.", "-y")] = False,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Bring agents in step with their files.

    New agents are made, changed ones get a new version; a second run changes nothing. Changes
    at the service that the files do not have are shown first, and nothing is sent unless you agree
    or give --overwrite; else the exit code is 5.
    """
    from carrel.store.agents.plan import carry_out, done_words, make_plan

    check_writable(load_profile(profile))
    made = run(profile, lambda client: make_plan(client, definitions, delete or []))
    _ask(made, overwrite=overwrite, yes=yes)

    async def work(client: "Client") -> "list[Step]":
        return [step async for step in carry_out(client, made)]

    needed = [step for step in made.steps if step.kind != "same"]
    steps = run(profile, work, changes=True) if needed else list(made.steps)
    if json:
        output.as_json([_step_as_json(step) for step in steps])
        return
    for step in steps:
        output.note(f"{output.one_line(step.name)}: {done_words(step)}.")


async def _make(
    client: "Client",
    starter: "Starter",
    name: str | None,
    model: str | None,
    libraries: Sequence[str],
) -> "Agent":
    from carrel.store.agents.plan import default_model

    model = model or starter.definition.model or await default_model(client)
    if not model:
        raise CommandError("This service lists no models: name one with --model.", Code.USAGE)
    draft = starter.draft(model).changed(name=name or starter.name)
    ids = [(await find_library(client, library)).id for library in libraries]
    return await client.agents.create(draft.with_libraries(ids).create())


def _ask(plan: "Plan", *, overwrite: bool, yes: bool) -> None:
    """Show a plan and ask whether to apply it; refuse a question without a terminal."""
    from carrel.store.agents.plan import overwriting_words, plan_lines

    if not plan.pending:
        return
    for line in plan_lines(plan):
        output.note(line)
    asks = sys.stdin.isatty() and not yes
    if plan.drifted and not overwrite:
        why = overwriting_words(plan)
        if not asks:
            raise CommandError(
                f"Nothing was sent: {why}. Keep what is there with carrel agents export, or "
                "replace it with --overwrite.",
                Code.DRIFT,
            )
        if not typer.confirm(f"{why}. Replace what is there?", err=True):
            raise CommandError("Nothing was sent.", Code.DRIFT)
    elif asks and not typer.confirm("Apply this?", default=True, err=True):
        raise CommandError("Nothing was sent.")


def _step_as_json(step: "Step") -> dict[str, Any]:
    return {
        "name": step.name,
        "step": "same" if step.kind == "adopt" else step.kind,
        "id": step.agent.id if step.agent else None,
        "version": step.agent.version if step.agent else None,
        "changes": [change_as_json(change) for change in step.changes if change.change != "same"],
        "drift": [change_as_json(change) for change in step.changed_there],
        "overwrites": step.pending and step.drift != "none",
    }


def _paths(folder: Path, texts: "Sequence[tuple[Agent, str]]") -> list[tuple[Path, str]]:
    from carrel.system.filenames import file_name

    folder.mkdir(parents=True, exist_ok=True)
    found: dict[Path, str] = {}
    for agent, text in texts:
        path = folder / file_name(f"{agent.name}.yaml", f"{agent.id}.yaml")
        found[path if path not in found else folder / f"{agent.id}.yaml"] = text
    return list(found.items())
