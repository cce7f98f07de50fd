"""An agent's fields as YAML for an editor; errors name their line."""

from collections.abc import Mapping
from dataclasses import replace

from carrel.store.agents.drafts import FIELDS, Draft
from carrel.yamlfile import Document, dump, read

MESSAGE = "version_message"
ALWAYS = ("name", "model", "description", "instructions", "tools", "completion_args")
"""Fields that are written even when empty, for the user to fill in."""


def to_yaml(draft: Draft, libraries: Mapping[str, str]) -> str:
    """Return a draft as YAML. `libraries` maps ids to names, which are written as comments."""
    fields = {name: draft.fields.get(name) for name in FIELDS}
    shown = {name: value for name, value in fields.items() if value or name in ALWAYS}
    text = dump({MESSAGE: draft.message or None, **shown})
    about = [
        "The next version of an agent." if draft.agent_id else "A new agent.",
        f"{MESSAGE} describes this version. Only name and model are required.",
        "Saved changes are checked and shown before anything is sent.",
    ]
    if libraries:
        about.append("Libraries, for a tool of the type document_library:")
        about += [f"  {id}  {' '.join(name.split())}" for id, name in libraries.items()]
    return "".join(f"# {line}\n" for line in about) + text


def from_yaml(text: str, draft: Draft) -> Draft:
    """Return the draft with the fields of the text. Unchanged fields are not validated again.

    Raises:
        YAMLError: it is not YAML, or not a valid agent.
    """
    return _apply(read(text, "There is no agent here: its fields are gone."), draft)


def _apply(document: Document, draft: Draft) -> Draft:
    from pydantic import ValidationError

    from carrel.wire.generation.agents import AgentCreate

    data = dict(document.data)
    message = data.pop(MESSAGE, None)
    known = dict(draft.fields)
    # A service may return fields that this workbench does not know.
    same = {name for name in data.keys() & known if data[name] == known[name]} - {"name", "model"}
    new = {name: value for name, value in data.items() if name not in same}
    try:
        AgentCreate.model_validate({**new, MESSAGE: message})
    except ValidationError as error:
        raise document.complaint(error, AgentCreate) from error
    cleared = dict.fromkeys(known)
    return replace(draft.changed(**{**cleared, **data}), message=message or "")
