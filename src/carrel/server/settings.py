"""What the server is told: by its command line, and by `settings.toml` in the data folder."""

import os
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from carrel.server.logs import LogFormat

MIB = 1024 * 1024


class SettingsError(Exception):
    """The settings file cannot be used; the message says why and what to do."""


def check_public_url(url: str) -> str:
    """A base address, without a slash at its end.

    Raises:
        ValueError: it is not one.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("not an address such as https://carrel.example.com")
    return url.rstrip("/")


PublicURL = Annotated[str, AfterValidator(check_public_url)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(_Section):
    """How much the server accepts. Sizes are in bytes."""

    file_bytes: int = Field(default=512 * MIB, gt=0)
    """One file of `POST /v1/files`."""
    file_days: int | None = Field(default=None, gt=0, le=36500)
    """How long a file is kept whose upload does not say; without it, until it is deleted."""
    document_bytes: int | None = Field(default=None, gt=0)
    """One document of a library; without it, as much as a file."""
    ocr_bytes: int | None = Field(default=None, gt=0)
    """One document to read; without it, as much as a file."""
    ocr_pages: int | None = Field(default=None, gt=0)
    """Pages of one document to read; without it, any number."""
    body_bytes: int = Field(default=96 * MIB, gt=0)
    """Any other request body, data URLs included."""
    completion_seconds: int = Field(default=300, gt=0)
    """One completion, from the request to its last token."""
    requests_per_minute: int | None = Field(default=None, gt=0)
    """What one organisation may ask in a minute; without it, any number."""
    tokens_per_minute: int | None = Field(default=None, gt=0)
    """What models may read and write for one organisation in a minute; without it, any number."""

    deleted_seconds: int = Field(default=3600, gt=0)
    """Bytes that no file or document names: so long are they kept. They had better be kept for
    longer than it takes to give a large upload its record."""

    remembered_bytes: int = Field(default=256 * MIB, ge=0)
    """Pages that were read are remembered, up to so many bytes; 0 remembers none."""

    @property
    def bytes_of_document(self) -> int:
        """The largest document of a library."""
        return self.document_bytes or self.file_bytes

    @property
    def bytes_to_read(self) -> int:
        """The largest document to read."""
        return self.ocr_bytes or self.file_bytes


class FolderSettings(_Section):
    """The contents of `settings.toml`."""

    model_url: str | None = None
    """An OpenAI-compatible address that answers instead of the embedded model."""
    model_key: str | None = Field(default=None, repr=False)
    """The key of that address; the environment's CARREL_MODEL_KEY wins over it."""
    model_path: Path | None = None
    """A GGUF file that the embedded engine loads instead of the built-in model."""
    public_url: PublicURL | None = None
    """The address that signed addresses begin with, where a proxy stands in front."""
    blobs: str | None = None
    """Where bytes are kept instead of in the folder: `s3://bucket/prefix`."""
    limits: Limits = Limits()

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads the file; without one, everything is at its default.

        Raises:
            SettingsError: the file is not TOML, or says something unknown or impossible.
        """
        try:
            return cls.model_validate(tomllib.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            return cls()
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} is not valid TOML: {error}. Correct it.") from None
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
                for item in error.errors(include_input=False, include_url=False)
            )
            raise SettingsError(f"{path}: {problems}. Correct or remove it.") from None


@dataclass(frozen=True)
class Settings:
    """How one run of the server is set up."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    ready_file: Path | None = None
    model_path: Path | None = None
    model_url: str | None = None
    model_key: str | None = field(default=None, repr=False)
    until_unused: bool = False
    """Stop when nobody has held a lease for a minute."""
    public_url: str | None = None
    blobs: str | None = None
    log_format: LogFormat = "text"
    limits: Limits = field(default_factory=Limits)

    def with_folder(self, folder: FolderSettings) -> Self:
        """These settings, completed by the folder's file; the command line wins."""
        chosen = self.model_path is not None or self.model_url is not None
        return replace(
            self,
            model_path=self.model_path if chosen else folder.model_path,
            model_url=self.model_url if chosen else folder.model_url,
            model_key=os.environ.get("CARREL_MODEL_KEY") or (None if chosen else folder.model_key),
            public_url=self.public_url or folder.public_url,
            blobs=self.blobs or folder.blobs,
            limits=folder.limits,
        )
