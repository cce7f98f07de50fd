"""The migrations make the tables that the code uses."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from carrel.server.datadir.folder import FORMAT, DataFolder
from carrel.server.records.sql import tables
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.migrate import migrate
from support.old_schemas import make_folder

_DOCUMENT = """
    INSERT INTO organisations VALUES ('o', 'team', 0);
    INSERT INTO libraries (id, organisation_id, owner_id, owner_type, name, created_at, updated_at)
    VALUES ('l', 'o', 'u', 'User', 'reports', 0, 0);
    INSERT INTO documents (id, library_id, name, blob, size, uploaded_by_id, uploaded_by_type,
        created_at, process_status, generation)
    VALUES ('d', 'l', 'notes.txt', 'b', 1, 'u', 'User', 0, 'done', 1);
"""
_ROWS = {
    1: f"""{_DOCUMENT}
    INSERT INTO chunks (id, document_id, library_id, generation, position, page, text)
    VALUES (7, 'd', 'l', 1, 0, 0, 'the heron');
    """,
    2: f"""{_DOCUMENT}
    UPDATE libraries SET number = 1;
    INSERT INTO chunks (id, document_id, position, page, text, vector)
    VALUES (7, 'd', 0, 0, 'the heron', CAST('vector' AS BLOB));
    """,
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    with DataFolder(tmp_path / "data") as folder:
        migrate(folder)
        yield folder


@pytest.fixture
def connection(folder: DataFolder) -> Iterator[sa.Connection]:
    engine = make_engine(folder.database_url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def _compare(connection: sa.Connection) -> list[object]:
    def ours(object: object, name: str | None, kind: str, reflected: bool, other: object) -> bool:
        return not (
            kind == "table" and (name or "").startswith(("chunks_fts", "words_fts", "alembic"))
        )

    context = MigrationContext.configure(
        connection, opts={"include_object": ours, "compare_type": False}
    )
    return list(compare_metadata(context, tables.metadata))


def _made_by_sql(connection: sa.Connection) -> set[tuple[str, str]]:
    """The full-text tables and the triggers of a database, by name and text."""
    query = sa.text(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' OR name LIKE '%fts'"
    )
    return {(row.name, row.sql) for row in connection.execute(query)}


def test_the_migrated_tables_are_the_declared_ones(connection: sa.Connection) -> None:
    assert _compare(connection) == []


@pytest.mark.parametrize("format", [1, 2])
def test_the_folder_of_a_released_version_gets_the_same_schema(
    format: int, connection: sa.Connection, tmp_path: Path
) -> None:
    with DataFolder(tmp_path / "old") as old:
        make_folder(old, format, _ROWS[format])
        migrate(old)
        (copy,) = (old.path / "backups").iterdir()
        assert copy.name.startswith(f"carrel-format{format}-")
        engine = make_engine(old.database_url)
        with engine.begin() as migrated:
            assert _compare(migrated) == []
            assert _made_by_sql(migrated) == _made_by_sql(connection)
            document = migrated.execute(sa.select(tables.documents)).one()
            assert (document.name, document.process_status) == (
                ("notes.txt", "todo") if format == 1 else ("notes.txt", "done")
            )
            # Those of format 1 are made anew.
            found = [] if format == 1 else [(7, 0, b"vector", None)]
            assert migrated.execute(sa.select(tables.vectors)).all() == found
            assert _found(migrated, "heron") == [row[0] for row in found]
            library = migrated.execute(sa.select(tables.libraries)).one()
            assert (library.number, library.embedding_model) == (1, tables.OWN_EMBEDDING)
        engine.dispose()


def test_a_folder_of_this_format_is_left_alone(folder: DataFolder) -> None:
    assert folder.format == FORMAT
    before = folder.database_file.stat().st_mtime_ns
    migrate(folder)
    assert folder.database_file.stat().st_mtime_ns == before
    assert not (folder.path / "backups").exists()


def test_an_older_database_is_copied_before_it_is_migrated(folder: DataFolder) -> None:
    folder.format = 0
    migrate(folder)
    (copy,) = (folder.path / "backups").iterdir()
    assert copy.name.startswith("carrel-format0-")
    engine = sa.create_engine(f"sqlite:///{copy}")
    with engine.connect() as connection:
        assert sa.inspect(connection).has_table("files")
    engine.dispose()
    assert folder.format == FORMAT


def _found(connection: sa.Connection, word: str) -> list[int]:
    query = sa.text("SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :word")
    return list(connection.scalars(query, {"word": word}))


def _add_chunk(connection: sa.Connection, text: str) -> None:
    now = datetime.now(UTC)
    connection.execute(tables.organisations.insert().values(id="o", name="o", created_at=now))
    connection.execute(
        tables.libraries.insert().values(
            id="l",
            number=1,
            organisation_id="o",
            owner_id="u",
            owner_type="User",
            name="l",
            created_at=now,
            updated_at=now,
        )
    )
    connection.execute(
        tables.documents.insert().values(
            id="d",
            library_id="l",
            name="d",
            blob="b",
            size=1,
            uploaded_by_id="u",
            uploaded_by_type="User",
            created_at=now,
            process_status="done",
            generation=1,
        )
    )
    connection.execute(
        tables.chunks.insert().values(id=7, document_id="d", position=0, page=0, text=text)
    )


def test_the_full_text_index_follows_the_chunks(connection: sa.Connection) -> None:
    _add_chunk(connection, "Résumés of running engineers")
    assert _found(connection, "resume") == [7]
    assert _found(connection, "runs") == [7]
    # A cascade from above must reach the index too.
    connection.execute(tables.libraries.delete())
    assert _found(connection, "resume") == []
    connection.exec_driver_sql("INSERT INTO chunks_fts(chunks_fts) VALUES ('integrity-check')")


def test_words_are_counted_by_document(connection: sa.Connection) -> None:
    _add_chunk(connection, "heron")
    counts = sa.select(tables.words.c.word, tables.words.c.documents)
    connection.execute(
        tables.document_words.insert().values(document_id="d", words=["heron", "owl"])
    )
    assert connection.execute(counts).all() == [("heron", 1), ("owl", 1)]
    connection.execute(tables.libraries.delete())
    assert connection.execute(counts).all() == []
    connection.exec_driver_sql("INSERT INTO words_fts(words_fts) VALUES ('integrity-check')")
