"""Creation and change of agents from a cell's keyword arguments."""

from typing import Any

from pydantic import BaseModel, ValidationError

from carrel.notebook.bench.names import Names
from carrel.notebook.bench.waits import await_service
from carrel.notebook.cells.errors import BenchError, bench_errors
from carrel.notebook.cells.wait import run, wait_for
from carrel.notebook.panels.agent_fields import AgentFields
from carrel.notebook.panels.core.base import Json
from carrel.store.agents.drafts import Draft, refusal
from carrel.store.core.naming import available_words
from carrel.store.store import Store
from carrel.wire.generation.agents import Agent


class AgentMaker:
    """Creates agents and their versions. `fields` are those of AgentFields; `libraries` may be
    names.

    Every method raises BenchError if the fields are invalid or the service refuses them.
    """

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names

    def create(self, name: str, fields: Json) -> Agent:
        """Create an agent; its default model is the service's first."""
        with bench_errors():
            made = self._change(self._blank(name), fields).create()
        return wait_for(self._store, self._store.agents.create(made))

    def edit(self, old: Agent, fields: Json) -> Agent | None:
        """Return the agent's next version; None if nothing differs."""
        with bench_errors():
            change = self._change(Draft.of(old), fields).update(old)
        if change is None:
            return None
        return wait_for(self._store, self._store.agents.update(old.id, change))

    def draft(self, old: Agent | None, name: str, fields: Json) -> Draft:
        """Return an unsaved draft with these fields, of an agent or a new one."""
        return self._change(self._blank(name) if old is None else Draft.of(old), fields)

    def _blank(self, name: str) -> Draft:
        run(self._store, await_service(self._store))
        models = self._store.session.slice.value.models
        return Draft.blank(models[0] if models else "").changed(name=name)

    def ensure(self, agent: str | Agent, fields: Json) -> Agent:
        """Return the agent with these fields: unchanged, its next version, or a new one."""
        if isinstance(agent, str):
            found = self._names.find_agent(agent)
            if found is None:
                return self.create(agent, fields)
            agent = found
        return self.edit(agent, fields) or agent

    def _change(self, draft: Draft, fields: Json) -> Draft:
        known = AgentFields.of(draft).model_dump()
        if "model" in fields:
            self._check_model(str(fields["model"]))
        arguments = as_arguments(fields)
        fields = {name: value for name, value in fields.items() if name not in arguments}
        if "libraries" in fields:
            ids = [self._names.library(one).id for one in fields["libraries"]]
            fields = {**fields, "libraries": ids}
        try:
            filled = AgentFields.model_validate({**known, **fields})
        except ValidationError as error:
            raise BenchError(refusal(error)) from None
        return filled.onto(draft).with_arguments(**arguments)

    def _check_model(self, model: str) -> None:
        run(self._store, await_service(self._store))
        session = self._store.session
        if not session.lists(model):
            known = available_words(model, session.slice.value.models)
            raise BenchError(f"This service lists no model “{model}”", known)


def as_arguments(fields: Json) -> Json:
    """Return the sampling arguments and the format in the interface's form.

    Raises:
        BenchError: a format is invalid.
    """
    arguments: Json = {}
    if "tool_choice" in fields:
        arguments["tool_choice"] = fields["tool_choice"]
    if "response_format" in fields:
        arguments["response_format"] = _as_format(fields["response_format"])
    return arguments


def _as_format(given: Any) -> Json | None:
    match given:
        case None:
            return None
        case "text" | "json_object":
            return {"type": given}
        case {"type": "text" | "json_object" | "json_schema"}:
            return dict(given)
        case dict():
            name, schema = str(given.get("title") or "answer"), given
        case type() if issubclass(given, BaseModel):
            name, schema = given.__name__, given.model_json_schema()
        case _:
            advice = 'Give "text", "json_object", a JSON schema or a pydantic model.'
            raise BenchError("This is no response_format", repr(given)[:80], advice)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}
