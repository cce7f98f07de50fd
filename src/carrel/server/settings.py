"""Settings of the server: its command line, and `settings.toml` in the data folder."""

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from carrel.config import toml_edit
from carrel.server.datadir.logs import LogFormat

MIB = 1024 * 1024


class ServerSettingsError(Exception):
    """The settings file cannot be used; the message names the reason and the next step."""


def check_public_url(url: str) -> str:
    """Return a base address without a trailing slash.

    Raises:
        ValueError: it is not a base address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("not an address such as https://carrel.example.com")
    return url.rstrip("/")


PublicURL = Annotated[str, AfterValidator(check_public_url)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _check_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
        raise ValueError("not an origin such as https://app.example.com")
    return origin.lower()


Several = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""A text, or a list of several."""
Addresses = Annotated[tuple[PublicURL, ...], BeforeValidator(_several)]
"""An address, or a list of several."""
Origins = Annotated[
    tuple[Annotated[str, AfterValidator(_check_origin)], ...], BeforeValidator(_several)
]
"""An origin of pages, or a list of several."""
VisionPages = Literal["named", "doubtful", "all"]
"""The pages that a vision model reads by default."""


class Limits(_Section):
    """Limits of the server. Sizes are in bytes."""

    file_bytes: int = Field(default=512 * MIB, gt=0)
    """Largest file of `POST /v1/files`."""
    file_days: int | None = Field(default=None, gt=0, le=36500)
    """Days a file is kept if its upload sets no expiry; without it, until it is deleted."""
    document_bytes: int | None = Field(default=None, gt=0)
    """Largest document of a library; without it, as for files."""
    ocr_bytes: int | None = Field(default=None, gt=0)
    """Largest document for OCR; without it, as for files."""
    ocr_pages: int | None = Field(default=None, gt=0)
    """Most pages of one document for OCR; without it, unlimited."""
    ocr_seconds: int = Field(default=240, gt=0)
    """Longest time to read a document for an answer, unless the caller says that it waits longer.

    The official clients wait 300 seconds for an answer, annotations included.
    """
    body_bytes: int = Field(default=96 * MIB, gt=0)
    """Largest of any other request body, data URLs included."""
    completion_seconds: int = Field(default=300, gt=0)
    """Longest time for one completion, from the request to its last token."""
    first_token_seconds: int = Field(default=60, gt=0)
    """Longest wait for a sign of a first token where another model address can be asked."""
    requests_per_minute: int | None = Field(default=None, gt=0)
    """Requests of one organisation per minute; without it, unlimited."""
    tokens_per_minute: int | None = Field(default=None, gt=0)
    """Tokens that models read and write for one organisation per minute; without it, unlimited."""
    organisation_bytes: int | None = Field(default=None, gt=0)
    """Bytes of files and documents that an organisation may keep; without it, unlimited."""
    organisation_documents: int | None = Field(default=None, gt=0)
    """Documents of libraries that an organisation may keep; without it, unlimited."""
    key_requests_per_minute: int | None = Field(default=None, gt=0)
    """Requests with one API key per minute; without it, unlimited."""
    key_tokens_per_minute: int | None = Field(default=None, gt=0)
    """Tokens that models read and write for one API key per minute; without it, unlimited."""
    key_answers: int | None = Field(default=None, gt=0)
    """Answers of models under way at once for one API key; without it, unlimited."""

    trash_days: int = Field(default=7, ge=0, le=3650)
    """Days in which what was deleted can be restored; 0 deletes at once."""

    deleted_seconds: int = Field(default=3600, gt=0)
    """Retention of unreferenced bytes; must exceed the longest upload. They go up to ten minutes
    later, when they are next looked for."""

    remembered_bytes: int = Field(default=256 * MIB, ge=0)
    """Size of the cache of read pages; 0 turns it off."""

    @property
    def bytes_of_document(self) -> int:
        """The largest document of a library."""
        return self.document_bytes or self.file_bytes

    @property
    def bytes_to_read(self) -> int:
        """The largest document for OCR."""
        return self.ocr_bytes or self.file_bytes


@dataclass(frozen=True)
class VisionModel:
    """A vision model that reads pages: its address, name and key, and its pages by default."""

    url: str
    name: str
    key: str | None = field(default=None, repr=False)
    pages: VisionPages = "named"


class Connector(_Section):
    """An MCP server whose tools agents may use: an address, or a command run for each call."""

    url: str | None = None
    """Its address, which speaks streamable HTTP."""
    key: str | None = Field(default=None, repr=False)
    """The key sent to the address, where a caller brings none."""
    command: Several = ()
    """The command and its arguments, which speaks over its input and output."""
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    """Environment variables of the command; of the server's own it has only PATH and such."""
    tools: tuple[str, ...] | None = None
    """The tools that may be called; without it, all."""
    seconds: int = Field(default=30, gt=0, le=300)
    """Longest time for one call."""

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if bool(self.url) == bool(self.command):
            raise ValueError("a connector has either a url or a command")
        if self.url is not None and urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError("its url is not an address such as https://mcp.example.com/mcp")
        return self


ConnectorName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")]


class FolderSettings(_Section):
    """The contents of `settings.toml`."""

    model_url: Addresses = ()
    """An OpenAI-compatible address, or a list of several, to use instead of the embedded model."""
    model_key: Several = Field(default=(), repr=False)
    """The key of the addresses, or a list with one for each; CARREL_MODEL_KEY in the environment
    wins over it, where commas stand between several."""
    model_name: str | None = None
    """The default model at the addresses; without it, the first that they list."""
    embedding_model: str | None = None
    """The model at the addresses that embeds new libraries; without it, the server's own."""
    rerank_url: str | None = None
    """The address of a reranker, to which `/rerank` is added; without it, searches do without."""
    rerank_key: str | None = Field(default=None, repr=False)
    """Its key."""
    rerank_model: str | None = None
    """Its model, where it has several."""
    strict_models: bool = False
    """Whether models answer to their own names only, and not to those of vendors."""
    mcp_write: bool = False
    """Whether the agents at `/mcp` may also change something: the key's rights set the bounds."""
    ocr_url: PublicURL | None = None
    """An OpenAI-compatible address of a vision model that reads pages beside the built-in OCR."""
    ocr_model: str | None = None
    """The vision model at that address; requests name it to have every page read by it."""
    ocr_key: str | None = Field(default=None, repr=False)
    """The key of that address; CARREL_OCR_KEY in the environment wins over it."""
    ocr_for: VisionPages = "named"
    """The pages the vision model reads where a request does not choose: `named` none, `doubtful`
    those that the built-in OCR doubts (handwriting, formulas, unknown scripts), `all` every
    page."""
    model_path: Path | None = None
    """A GGUF file that the embedded engine loads instead of the built-in model."""
    public_url: PublicURL | None = None
    """The base of signed addresses, if the server is behind a proxy."""
    hosts: Several = ()
    """Further host names under which the server is reached, beside this machine's and that of
    public_url; requests for any other are refused."""
    cors: Origins = ()
    """Origins whose pages may call the server from a browser, as in `https://app.example.com`."""
    proxies: Several = ()
    """Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."""
    database: str | None = Field(default=None, repr=False)
    """A PostgreSQL database for the records instead of the folder: `postgresql://…`."""
    blobs: str | None = None
    """An object store for the bytes instead of the folder: `s3://bucket/prefix`."""
    store_signs: bool = False
    """Whether signed addresses are the object store's own, which clients must reach then; the
    server serves them itself otherwise."""
    connectors: dict[ConnectorName, Connector] = Field(default_factory=dict)
    """MCP servers whose tools agents may use, by name: a table `[connectors.NAME]` for each."""
    web_search: str | None = None
    """The connector that searches the web for agents with the tool `web_search`."""
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _check_web_search(self) -> Self:
        if self.web_search is not None and self.web_search not in self.connectors:
            raise ValueError("web_search needs a connector of that name")
        return self

    @model_validator(mode="after")
    def _check_vision_model(self) -> Self:
        if self.ocr_url is not None and not self.ocr_model:
            raise ValueError("ocr_url needs ocr_model, the name of the vision model there")
        return self

    @property
    def vision(self) -> VisionModel | None:
        """The vision model that reads pages, if one is set."""
        if self.ocr_url is None or self.ocr_model is None:
            return None
        key = os.environ.get("CARREL_OCR_KEY") or self.ocr_key
        return VisionModel(self.ocr_url, self.ocr_model, key, self.ocr_for)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the file, or return the defaults without one.

        Raises:
            ServerSettingsError: the file is not TOML, or has an unknown or invalid setting.
        """
        try:
            return cls.model_validate(toml_edit.parse(path.read_text("utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            return cls()
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ServerSettingsError(f"{path} is not valid TOML: {error}. Correct it.") from None
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
                for item in error.errors(include_input=False, include_url=False)
            )
            raise ServerSettingsError(f"{path}: {problems}. Correct or remove it.") from None


class ServerSettings(FolderSettings):
    """The settings of one run: those of its command line, then also those of the folder."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    ready_file: Path | None = None
    no_worker: bool = False
    """Leave documents, their summaries and batches to others of the database."""
    until_unused: bool = False
    """Stop after a minute without a lease."""
    log_format: LogFormat = "text"
    log_stdout: bool | None = None
    """Whether to log to standard output, too; unset, where it is a pipe or a socket."""
    metrics: str | None = None
    """Where to serve metrics: `HOST:PORT`."""
    traces: str | None = None
    """The base address of a collector of traces that speaks OTLP over HTTP."""

    def with_folder(self, folder: FolderSettings) -> Self:
        """Return these settings with the folder's file; the command line wins.

        Raises:
            ServerSettingsError: the numbers of addresses and of keys differ.
        """
        chosen = self.model_path is not None or bool(self.model_url)
        urls = self.model_url if chosen else folder.model_url
        given = os.environ.get("CARREL_MODEL_KEY")
        keys = () if chosen else folder.model_key
        if given:
            keys = tuple(given.split(",")) if len(urls) > 1 else (given,)
        if len(keys) > 1 and len(keys) != len(urls):
            raise ServerSettingsError(
                f"There are {len(urls)} model addresses and {len(keys)} keys for them. Give one key"
                " for all, or one for each in their order."
            )
        model: dict[str, Any] = {
            "model_path": self.model_path if chosen else folder.model_path,
            "model_url": urls,
            "model_key": keys,
            "model_name": None if chosen else folder.model_name,
        }
        own = {name: value for name in self.model_fields_set if (value := getattr(self, name))}
        return self.model_copy(update={**dict(folder), **own, **model})
