"""The schema of a new database: its tables, and the triggers that keep derived rows in step."""

import sqlalchemy as sa

from carrel.server.datadir.folder import FORMAT
from carrel.server.records.sql.tables import metadata

# The texts stay in their tables; triggers keep the indexes in step, cascades included.
_SQLITE = (
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
_POSTGRESQL = (
    # Words of any language, stemmed as English ones, stop words included.
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
TRIGGERS = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
"""Statements by dialect: full-text search, the counts of words, the revisions of libraries."""

_VERSION = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
    f"INSERT INTO alembic_version VALUES ('{FORMAT:04}')",
)


def create(connection: sa.Connection) -> None:
    """Make everything in an empty database; migrations are for older ones alone."""
    metadata.create_all(connection, checkfirst=False)
    for statement in (*TRIGGERS[connection.dialect.name], *_VERSION):
        connection.execute(sa.text(statement))
