"""Results of tools, whose models are the output schemas."""

from pydantic import BaseModel


class LibraryRow(BaseModel):
    id: str
    name: str
    description: str | None = None
    nb_documents: int | None = None


class DocumentRow(BaseModel):
    id: str
    name: str
    mime_type: str | None = None
    number_of_pages: int | None = None
    processing_status: str
    summary: str | None = None


class FileRow(BaseModel):
    id: str
    filename: str
    bytes: int | None = None
    mimetype: str | None = None


class AgentRow(BaseModel):
    id: str
    name: str
    description: str | None = None
    model: str


class _Listed(BaseModel):
    next_page: int | None = None


class Libraries(_Listed):
    libraries: list[LibraryRow]


class Documents(_Listed):
    documents: list[DocumentRow]


class Files(_Listed):
    files: list[FileRow]


class Agents(_Listed):
    agents: list[AgentRow]


class PassageRow(BaseModel):
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


class Created(BaseModel):
    id: str
    name: str


class Added(BaseModel):
    id: str
    name: str
    processing_status: str


class Deleted(BaseModel):
    id: str
    deleted: bool
