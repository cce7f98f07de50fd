"""The clients that must work against the server, and the operations each of them has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

AREAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "files": ("upload", "list", "retrieve", "download", "signed address", "delete"),
        "OCR": ("file id", "signed address", "data URL", "pages", "blocks", "scores"),
        "agents": (
            "create",
            "get",
            "update",
            "list",
            "list by cursor",
            "versions",
            "one version",
            "switch version",
            "aliases",
            "delete",
        ),
        "agent completions": ("whole", "streamed", "with a tool", "with a library"),
        "libraries": ("create", "list", "get", "update", "share", "delete"),
        "documents": (
            "upload",
            "list",
            "get",
            "update",
            "status",
            "text",
            "signed addresses",
            "reprocess",
            "delete",
        ),
        "chat": ("whole", "streamed", "with a tool"),
        "responses": ("whole", "streamed", "with a tool"),
        "reasoning": ("whole", "streamed"),
        "file parts": ("stored", "sent along"),
        "kept responses": (
            "retrieve",
            "continue",
            "in the background",
            "events again",
            "in a conversation",
            "cancel",
            "delete",
        ),
        "vector stores": (
            "create",
            "add",
            "add together",
            "list",
            "search",
            "answer from",
            "delete",
        ),
        "batches": ("create", "list", "output", "cancel"),
        "embeddings": ("create",),
        "conversations": (
            "start",
            "append",
            "streamed",
            "with an agent",
            "with a tool",
            "restart",
            "history",
            "messages",
            "get",
            "list",
            "delete",
        ),
        "batch jobs": ("create", "inline", "get", "list", "output", "cancel", "delete"),
        "models": ("list",),
        "users": ("identity", "organisations"),
        "MCP": ("tools", "search", "resource", "by an agent"),
    }
)
"""What a client can do, in the order a driver does it within an area."""

OPERATIONS = tuple(f"{area}: {name}" for area, names in AREAS.items() for name in names)


def operations(*areas: str, without: Iterable[str] = ()) -> frozenset[str]:
    """The operations of these areas, `without` some that a client lacks."""
    missing = frozenset(without)
    unknown = missing.difference(OPERATIONS)
    if unknown:
        raise ValueError(f"no such operations: {unknown}")
    return frozenset(f"{area}: {name}" for area in areas for name in AREAS[area]) - missing


@dataclass(frozen=True)
class Client:
    """A released client, the driver that runs it, and what that driver must get done."""

    package: str
    version: str
    driver: str
    operations: frozenset[str]
    beside: tuple[str, ...] = ()
    """Packages that it is installed with."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Why an operation is as it is, or why there is none, for footnotes."""
    python: str = ""
    """The Python it needs, where that is another than the tests'."""
    everyday: bool = True
    """Whether the tests run it; others, which take long to install, only the conformance run."""

    @property
    def npm(self) -> bool:
        """Whether it runs in Node."""
        return self.driver.endswith(".mjs")

    @property
    def name(self) -> str:
        registry = "npm " if self.npm else ""
        return (
            f"{registry}{self.package} {self.version}{''.join(f', {one}' for one in self.beside)}"
        )


_DIALECT = ("responses", "file parts", "kept responses", "vector stores", "batches")
"""Areas of the chat dialect, which clients of the hosted service lack."""
_LATER = ("users", "MCP")
"""Areas that older ones of them lack as well."""
_ALL = tuple(area for area in AREAS if area not in (*_DIALECT, *_LATER))
_REASONING = operations("reasoning")
_RESPONSES = operations("responses")
_CHAT = operations("chat")
_OLD = ("agents: list by cursor", "OCR: blocks", "OCR: scores", "batch jobs: delete")
"""Operations that came with version 2."""
_OLDEST = (
    *("agents: versions", "agents: one version", "agents: aliases", "agents: delete"),
    *("conversations: delete", "batch jobs: inline"),
)
"""Operations that came with later releases of version 1."""

_NO_CALL = (
    "It leaves to the model whether it calls a tool, and the built-in model calls none unless "
    "told to."
)

CLIENTS = (
    Client("mistralai", "3.7.0", "mistral", operations(*_ALL, "users")),
    Client("mistralai", "2.10.1", "mistral", operations(*_ALL)),
    Client("mistralai", "1.12.4", "mistral", operations(*_ALL, without=_OLD)),
    Client(
        "mistralai",
        "1.9.11",
        "mistral",
        operations(*_ALL, without=_OLD + _OLDEST),
    ),
    Client("@mistralai/mistralai", "2.7.0", "mistral.mjs", operations(*_ALL, "users")),
    Client(
        "@mistralai/mistralai",
        "1.15.1",
        "mistral.mjs",
        operations(*_ALL, without=_OLD),
    ),
    Client(
        "litellm[mcp]",
        "1.106.2",
        "litellm",
        operations("files", "chat", "reasoning", "embeddings", without=["files: signed address"])
        | {"OCR: signed address", "OCR: data URL", "OCR: pages"},
        notes={"chat: with a tool": "litellm's own tool code needs its extra `mcp`."},
    ),
    Client(
        "mistral-haystack",
        "3.0.0",
        "haystack",
        _CHAT
        | {"OCR: file id", "OCR: signed address", "OCR: data URL", "OCR: pages"}
        | {"embeddings: create"},
        notes={
            "OCR: file id": "Haystack's converter has no setting for the address: the driver "
            "gives it a client that has one."
        },
    ),
    Client(
        "langchain-mistralai",
        "1.1.6",
        "langchain",
        _CHAT | _REASONING | {"embeddings: create"},
    ),
    Client("llama-index-llms-mistralai", "0.11.0", "llama_index", _CHAT | _REASONING),
    Client("pydantic-ai-slim[mistral]", "2.68.0", "pydantic_ai", _CHAT | _REASONING),
    Client(
        "@ai-sdk/mistral",
        "3.0.69",
        "ai.mjs",
        _CHAT | {"reasoning: streamed", "embeddings: create"},
        ("ai@6.0.326",),
        notes={
            "reasoning: whole": "It names itself in streams alone, so that thinking comes in a"
            " field that it does not read."
        },
    ),
    Client(
        "openai",
        "3.54.0",
        "openai_client",
        operations(
            *("files", "chat", "reasoning", *_DIALECT, "embeddings", "models"),
            without=["files: signed address"],
        ),
    ),
    Client(
        "openai",
        "7.57.0",
        "openai_client.mjs",
        operations("chat", "responses", "embeddings", "models"),
    ),
    Client(
        "langchain-openai",
        "1.7.3",
        "langchain_openai",
        _CHAT | _RESPONSES | {"embeddings: create"},
    ),
    Client(
        "openai-agents",
        "0.24.0",
        "openai_agents",
        _CHAT | _RESPONSES | {"MCP: tools", "MCP: by an agent"},
    ),
    Client(
        "smolagents[mcp,openai]",
        "1.26.0",
        "smolagents",
        frozenset({"chat: whole", "chat: streamed", "MCP: tools"}),
        ("mcp==1.30.0",),
        notes={"MCP: tools": "smolagents needs a version of the MCP SDK below 2."},
    ),
    Client(
        "instructor",
        "1.17.0",
        "instructor_client",
        frozenset({"chat: whole", "chat: with a tool"}),
    ),
    Client(
        "dspy",
        "3.4.1",
        "dspy_client",
        frozenset({"chat: whole", "chat: with a tool"}),
        notes={
            "chat: streamed": "It streams the fields of its own format, which the built-in model "
            "does not write."
        },
        everyday=False,
    ),
    Client(
        "crewai",
        "1.15.30",
        "crewai_client",
        frozenset({"chat: whole", "chat: streamed"}),
        notes={"chat: with a tool": _NO_CALL},
        everyday=False,
    ),
    Client(
        "autogen-agentchat",
        "0.7.5",
        "autogen_client",
        _CHAT,
        ("autogen-ext[openai]==0.7.5", "openai==3.54.0"),
        everyday=False,
    ),
    Client("agno", "3.1.10", "agno_client", _CHAT, ("openai==3.54.0",), everyday=False),
    Client("strands-agents[openai]", "1.62.0", "strands_client", _CHAT, everyday=False),
    Client("llm", "0.36", "llm_cli", frozenset({"chat: whole", "chat: streamed"})),
    Client(
        "mistral-vibe",
        "3.0.2",
        "vibe_cli",
        frozenset({"chat: streamed"}),
        notes={"chat: whole": "It always streams.", "chat: with a tool": _NO_CALL},
        python="3.12",
        everyday=False,
    ),
    Client(
        "mcp",
        "2.3.0",
        "mcp_client",
        operations("MCP", without=["MCP: by an agent"]),
    ),
)
