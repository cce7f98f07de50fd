"""Results of tools, whose models are the output schemas."""

from pydantic import BaseModel, ConfigDict


class _Row(BaseModel):
    """The fields of an item that an agent is told."""

    model_config = ConfigDict(from_attributes=True)


class LibraryRow(_Row):
    id: str
    name: str
    description: str | None = None
    nb_documents: int | None = None


class DocumentRow(_Row):
    id: str
    name: str
    mime_type: str | None = None
    number_of_pages: int | None = None
    processing_status: str
    summary: str | None = None


class FileRow(_Row):
    id: str
    filename: str
    bytes: int | None = None
    mimetype: str | None = None


class AgentRow(_Row):
    id: str
    name: str
    description: str | None = None
    model: str


class Listed(BaseModel):
    """A page of a list."""

    next_page: int | None = None


class Libraries(Listed):
    libraries: list[LibraryRow]


class Documents(Listed):
    documents: list[DocumentRow]


class Files(Listed):
    files: list[FileRow]


class Agents(Listed):
    agents: list[AgentRow]


class PassageRow(_Row):
    document_id: str
    document_name: str
    page: int | None = None
    snippet: str
    score: float


class Passages(BaseModel):
    passages: list[PassageRow]


class TableRow(BaseModel):
    page: int
    markdown: str


class Tables(BaseModel):
    tables: list[TableRow]
    next_first_page: int | None = None


class Created(_Row):
    id: str
    name: str


class Added(_Row):
    id: str
    name: str
    processing_status: str


class Deleted(BaseModel):
    id: str
    deleted: bool
