"""Search by ranges of ids, words for misspellings, places on the page.

Chunks are derived: they are dropped here, and every document is processed anew.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.tables import create, index

revision = "0002"
down_revision = "0001"

_BEFORE = (
    "DROP TRIGGER chunks_fts_insert",
    "DROP TRIGGER chunks_fts_delete",
    "DROP TRIGGER chunks_fts_update",
    "DROP TABLE chunks_fts",
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

# Words of any language, stemmed as English ones, stop words included.
_TEXT_SEARCH = (
    "CREATE TEXT SEARCH DICTIONARY carrel_stem (TEMPLATE = snowball, LANGUAGE = english)",
    "CREATE TEXT SEARCH CONFIGURATION carrel (COPY = pg_catalog.simple)",
    """
    ALTER TEXT SEARCH CONFIGURATION carrel ALTER MAPPING FOR asciiword, word, numword
    WITH carrel_stem
    """,
    # In small letters, without accents and punctuation.
    r"""
    CREATE FUNCTION carrel_folded(content text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN regexp_replace(
        normalize(regexp_replace(normalize(lower(content), NFD), '[\u0300-\u036f]', '', 'g'), NFC),
        '[^[\:alnum\:]]+', ' ', 'g'
    )
    """,
    # The number of the library is a word too.
    """
    ALTER TABLE chunks ADD COLUMN search tsvector GENERATED ALWAYS AS (
        array_to_tsvector(ARRAY['#' || (id >> 32)::text])
        || to_tsvector('carrel', carrel_folded(coalesce(segmented, text)))
    ) STORED
    """,
    "CREATE INDEX ix_chunks_search ON chunks USING gin (search)",
    """
    CREATE FUNCTION carrel_runs(word text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ARRAY(
        SELECT DISTINCT substr(word, start, 3) FROM generate_series(1, length(word) - 2) AS start
    )
    """,
    "CREATE INDEX ix_words_runs ON words USING gin (carrel_runs(word))",
    # Rows are locked in the order of their words, so that no two documents wait for each other.
    """
    CREATE FUNCTION carrel_count_words() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO words (word, documents)
        SELECT value, 1 FROM json_array_elements_text(new.words) AS value
        ORDER BY value COLLATE "C"
        ON CONFLICT (word) DO UPDATE SET documents = words.documents + 1;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER document_words_insert AFTER INSERT ON document_words
    FOR EACH ROW EXECUTE FUNCTION carrel_count_words()
    """,
    """
    CREATE FUNCTION carrel_discount_words() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE gone text[] := ARRAY(SELECT json_array_elements_text(old.words));
    BEGIN
        PERFORM FROM words WHERE word = ANY (gone) ORDER BY word FOR UPDATE;
        UPDATE words SET documents = documents - 1 WHERE word = ANY (gone);
        DELETE FROM words WHERE documents = 0 AND word = ANY (gone);
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER document_words_delete AFTER DELETE ON document_words
    FOR EACH ROW EXECUTE FUNCTION carrel_discount_words()
    """,
    """
    CREATE FUNCTION carrel_published() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE libraries SET revision = revision + 1 WHERE id = new.library_id;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER documents_published AFTER UPDATE OF indexed_generation ON documents
    FOR EACH ROW EXECUTE FUNCTION carrel_published()
    """,
    """
    CREATE FUNCTION carrel_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE libraries SET revision = revision + 1 WHERE id = old.library_id;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER documents_deleted AFTER DELETE ON documents
    FOR EACH ROW EXECUTE FUNCTION carrel_deleted()
    """,
)


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    for statement in _BEFORE if sqlite else ():
        op.execute(statement)
    op.drop_table("chunks")
    big = sa.Integer() if sqlite else sa.BigInteger()
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
    create(
        "chunks",
        sa.Column("id", big, autoincrement=False, nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("segmented", sa.Text()),
        sa.Column("vector", sa.LargeBinary()),
        sa.Column("sentences", sa.LargeBinary()),
        sa.Column("layout", sa.JSON()),
        sa.UniqueConstraint("document_id", "position", name="uq_chunks_document_id_position"),
        document_id="documents",
    )
    index("chunks", "document_id")
    create(
        "document_words",
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        key=("document_id",),
        document_id="documents",
    )
    create(
        "words",
        sa.Column("id", big, nullable=False),
        sa.Column("word", sa.Text(collation=None if sqlite else "C"), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.UniqueConstraint("word", name="uq_words_word"),
    )
    for statement in (*_FULL_TEXT, *_REVISIONS) if sqlite else _TEXT_SEARCH:
        op.execute(statement)
    op.execute(_PROCESS_ANEW)
