"""Search by ranges of ids, words for misspellings, places on the page.

Chunks are derived: they are dropped here, and every document is processed anew.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_BEFORE = (
    "DROP TRIGGER chunks_fts_insert",
    "DROP TRIGGER chunks_fts_delete",
    "DROP TRIGGER chunks_fts_update",
    "DROP TABLE chunks_fts",
    "DROP TABLE chunks",
)
_NUMBERS = """
    UPDATE libraries SET number = numbered.number
    FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS number FROM libraries)
        AS numbered
    WHERE numbered.id = libraries.id
"""
_PROCESS_ANEW = """
    UPDATE documents SET process_status = 'todo', generation = generation + 1, attempts = 0,
        not_before = last_processed_at
    WHERE process_status = 'done'
"""
# The texts stay in their tables; triggers keep the indexes in step, cascades included.
_FULL_TEXT = (
    """
    CREATE VIRTUAL TABLE chunks_fts USING fts5(
        text, segmented, content='chunks', content_rowid='id',
        tokenize="porter unicode61 remove_diacritics 2"
    )
    """,
    """
    CREATE TRIGGER chunks_fts_insert AFTER INSERT ON chunks BEGIN
        INSERT INTO chunks_fts(rowid, text, segmented) VALUES (new.id, new.text, new.segmented);
    END
    """,
    """
    CREATE TRIGGER chunks_fts_delete AFTER DELETE ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, text, segmented)
        VALUES ('delete', old.id, old.text, old.segmented);
    END
    """,
    """
    CREATE VIRTUAL TABLE words_fts USING fts5(
        word, content='words', content_rowid='id', detail='none', tokenize='trigram'
    )
    """,
    """
    CREATE TRIGGER words_fts_insert AFTER INSERT ON words BEGIN
        INSERT INTO words_fts(rowid, word) VALUES (new.id, new.word);
    END
    """,
    """
    CREATE TRIGGER words_fts_delete AFTER DELETE ON words BEGIN
        INSERT INTO words_fts(words_fts, rowid, word) VALUES ('delete', old.id, old.word);
    END
    """,
    """
    CREATE TRIGGER document_words_insert AFTER INSERT ON document_words BEGIN
        INSERT INTO words(word, documents) SELECT value, 1 FROM json_each(new.words) WHERE true
        ON CONFLICT (word) DO UPDATE SET documents = documents + 1;
    END
    """,
    """
    CREATE TRIGGER document_words_delete AFTER DELETE ON document_words BEGIN
        UPDATE words SET documents = documents - 1
        WHERE word IN (SELECT value FROM json_each(old.words));
        DELETE FROM words
        WHERE documents = 0 AND word IN (SELECT value FROM json_each(old.words));
    END
    """,
)
_REVISIONS = (
    """
    CREATE TRIGGER documents_published AFTER UPDATE OF indexed_generation ON documents BEGIN
        UPDATE libraries SET revision = revision + 1 WHERE id = new.library_id;
    END
    """,
    """
    CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
        UPDATE libraries SET revision = revision + 1 WHERE id = old.library_id;
    END
    """,
)


def upgrade() -> None:
    for statement in _BEFORE:
        op.execute(statement)
    for name in ("number", "revision"):
        column = sa.Column(name, sa.Integer(), server_default="0", nullable=False)
        op.add_column("libraries", column)
    op.execute(_NUMBERS)
    op.create_index("ix_libraries_number", "libraries", ["number"], unique=True)
    op.add_column("documents", sa.Column("summarised_generation", sa.Integer()))
    op.create_index(
        "ix_documents_library_id_indexed_generation_id",
        "documents",
        ["library_id", "indexed_generation", "id"],
    )
    op.add_column("document_pages", sa.Column("layout", sa.JSON()))
    op.create_table(
        "chunks",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("segmented", sa.Text()),
        sa.Column("vector", sa.LargeBinary()),
        sa.Column("sentences", sa.LargeBinary()),
        sa.Column("layout", sa.JSON()),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name="fk_chunks_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_chunks"),
        sa.UniqueConstraint("document_id", "position", name="uq_chunks_document_id_position"),
    )
    op.create_index("ix_chunks_document_id", "chunks", ["document_id"])
    op.create_table(
        "document_words",
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name="fk_document_words_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name="pk_document_words"),
    )
    op.create_table(
        "words",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_words"),
        sa.UniqueConstraint("word", name="uq_words_word"),
    )
    for statement in (*_FULL_TEXT, *_REVISIONS):
        op.execute(statement)
    op.execute(_PROCESS_ANEW)
