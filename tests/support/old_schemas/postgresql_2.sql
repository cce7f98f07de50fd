CREATE FUNCTION public.carrel_count_words() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
        INSERT INTO words (word, documents)
        SELECT value, 1 FROM json_array_elements_text(new.words) AS value
        ORDER BY value COLLATE "C"
        ON CONFLICT (word) DO UPDATE SET documents = words.documents + 1;
        RETURN NULL;
    END $$;
CREATE FUNCTION public.carrel_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
        UPDATE libraries SET revision = revision + 1 WHERE id = old.library_id;
        RETURN NULL;
    END $$;
CREATE FUNCTION public.carrel_discount_words() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    DECLARE gone text[] := ARRAY(SELECT json_array_elements_text(old.words));
    BEGIN
        PERFORM FROM words WHERE word = ANY (gone) ORDER BY word FOR UPDATE;
        UPDATE words SET documents = documents - 1 WHERE word = ANY (gone);
        DELETE FROM words WHERE documents = 0 AND word = ANY (gone);
        RETURN NULL;
    END $$;
CREATE FUNCTION public.carrel_folded(content text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(NORMALIZE(regexp_replace(NORMALIZE(lower(content), NFD), '[\u0300-\u036f]'::text, ''::text, 'g'::text), NFC), '[^[:alnum:]]+'::text, ' '::text, 'g'::text);
CREATE FUNCTION public.carrel_published() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
        UPDATE libraries SET revision = revision + 1 WHERE id = new.library_id;
        RETURN NULL;
    END $$;
CREATE FUNCTION public.carrel_runs(word text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY(SELECT DISTINCT substr(carrel_runs.word, start.start, 3) AS substr FROM generate_series(1, (length(carrel_runs.word) - 2)) start(start));
CREATE TEXT SEARCH DICTIONARY public.carrel_stem (
    TEMPLATE = pg_catalog.snowball,
    language = 'english' );
CREATE TEXT SEARCH CONFIGURATION public.carrel (
    PARSER = pg_catalog."default" );
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR asciiword WITH public.carrel_stem;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR word WITH public.carrel_stem;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR numword WITH public.carrel_stem;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR email WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR url WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR host WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR sfloat WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR version WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR hword_numpart WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR hword_part WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR hword_asciipart WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR numhword WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR asciihword WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR hword WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR url_path WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR file WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR "float" WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR "int" WITH simple;
ALTER TEXT SEARCH CONFIGURATION public.carrel
    ADD MAPPING FOR uint WITH simple;
CREATE TABLE public.agent_aliases (
    agent_id character varying(36) NOT NULL,
    alias character varying(64) NOT NULL,
    version integer NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.agent_versions (
    agent_id character varying(36) NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    model text NOT NULL,
    settings json NOT NULL,
    message text,
    created_at bigint NOT NULL
);
CREATE TABLE public.agents (
    id character varying(36) NOT NULL,
    organisation_id character varying(36) NOT NULL,
    owner_id character varying(36) NOT NULL,
    active_version integer NOT NULL,
    deployment_chat boolean NOT NULL,
    source text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.api_keys (
    id character varying(36) NOT NULL,
    user_id character varying(36) NOT NULL,
    name text NOT NULL,
    hash character varying(64) NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint
);
CREATE TABLE public.chunks (
    id bigint NOT NULL,
    document_id character varying(36) NOT NULL,
    "position" integer NOT NULL,
    page integer NOT NULL,
    text text NOT NULL,
    segmented text,
    vector bytea,
    sentences bytea,
    layout json,
    search tsvector GENERATED ALWAYS AS ((array_to_tsvector(ARRAY[('#'::text || ((id >> 32))::text)]) || to_tsvector('public.carrel'::regconfig, public.carrel_folded(COALESCE(segmented, text))))) STORED
);
CREATE TABLE public.document_pages (
    document_id character varying(36) NOT NULL,
    generation integer NOT NULL,
    page integer NOT NULL,
    markdown text NOT NULL,
    layout json
);
CREATE TABLE public.document_words (
    document_id character varying(36) NOT NULL,
    words json NOT NULL
);
CREATE TABLE public.documents (
    id character varying(36) NOT NULL,
    library_id character varying(36) NOT NULL,
    name text NOT NULL,
    blob character varying(64) NOT NULL,
    size bigint NOT NULL,
    mime_type text,
    extension text,
    uploaded_by_id character varying(36) NOT NULL,
    uploaded_by_type text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    attributes json,
    summary text,
    process_status character varying(32) NOT NULL,
    generation integer NOT NULL,
    indexed_generation integer,
    attempts integer DEFAULT 0 NOT NULL,
    not_before bigint,
    error text,
    last_processed_at bigint,
    number_of_pages integer,
    ocr_blob character varying(64),
    tokens_main bigint,
    tokens_summary bigint,
    tokens_total bigint DEFAULT '0'::bigint NOT NULL,
    summarised_generation integer
);
CREATE TABLE public.files (
    id character varying(36) NOT NULL,
    organisation_id character varying(36) NOT NULL,
    user_id character varying(36) NOT NULL,
    filename text NOT NULL,
    blob character varying(64) NOT NULL,
    bytes bigint NOT NULL,
    purpose text NOT NULL,
    sample_type text NOT NULL,
    source text NOT NULL,
    num_lines bigint,
    mimetype text,
    visibility text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
);
CREATE TABLE public.libraries (
    id character varying(36) NOT NULL,
    organisation_id character varying(36) NOT NULL,
    owner_id character varying(36) NOT NULL,
    owner_type text NOT NULL,
    name text NOT NULL,
    description text,
    chunk_size integer,
    emoji text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    number integer DEFAULT 0 NOT NULL,
    revision integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.library_shares (
    library_id character varying(36) NOT NULL,
    share_with_type character varying(16) NOT NULL,
    share_with_uuid character varying(36) NOT NULL,
    organisation_id character varying(36) NOT NULL,
    role text NOT NULL
);
CREATE TABLE public.organisations (
    id character varying(36) NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.users (
    id character varying(36) NOT NULL,
    organisation_id character varying(36) NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.words (
    id bigint NOT NULL,
    word text NOT NULL COLLATE pg_catalog."C",
    documents integer NOT NULL
);
CREATE SEQUENCE public.words_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.words_id_seq OWNED BY public.words.id;
ALTER TABLE ONLY public.words ALTER COLUMN id SET DEFAULT nextval('public.words_id_seq'::regclass);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.agent_aliases
    ADD CONSTRAINT pk_agent_aliases PRIMARY KEY (agent_id, alias);
ALTER TABLE ONLY public.agent_versions
    ADD CONSTRAINT pk_agent_versions PRIMARY KEY (agent_id, number);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT pk_agents PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT pk_api_keys PRIMARY KEY (id);
ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT pk_chunks PRIMARY KEY (id);
ALTER TABLE ONLY public.document_pages
    ADD CONSTRAINT pk_document_pages PRIMARY KEY (document_id, generation, page);
ALTER TABLE ONLY public.document_words
    ADD CONSTRAINT pk_document_words PRIMARY KEY (document_id);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT pk_documents PRIMARY KEY (id);
ALTER TABLE ONLY public.files
    ADD CONSTRAINT pk_files PRIMARY KEY (id);
ALTER TABLE ONLY public.libraries
    ADD CONSTRAINT pk_libraries PRIMARY KEY (id);
ALTER TABLE ONLY public.library_shares
    ADD CONSTRAINT pk_library_shares PRIMARY KEY (library_id, share_with_type, share_with_uuid);
ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT pk_organisations PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT pk_users PRIMARY KEY (id);
ALTER TABLE ONLY public.words
    ADD CONSTRAINT pk_words PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT uq_api_keys_hash UNIQUE (hash);
ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT uq_chunks_document_id_position UNIQUE (document_id, "position");
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT uq_documents_library_id_blob UNIQUE (library_id, blob);
ALTER TABLE ONLY public.words
    ADD CONSTRAINT uq_words_word UNIQUE (word);
CREATE INDEX ix_agents_created_at ON public.agents USING btree (created_at);
CREATE INDEX ix_agents_organisation_id ON public.agents USING btree (organisation_id);
CREATE INDEX ix_api_keys_user_id ON public.api_keys USING btree (user_id);
CREATE INDEX ix_chunks_document_id ON public.chunks USING btree (document_id);
CREATE INDEX ix_chunks_search ON public.chunks USING gin (search);
CREATE INDEX ix_documents_blob ON public.documents USING btree (blob);
CREATE INDEX ix_documents_created_at ON public.documents USING btree (created_at);
CREATE INDEX ix_documents_library_id ON public.documents USING btree (library_id);
CREATE INDEX ix_documents_library_id_indexed_generation_id ON public.documents USING btree (library_id, indexed_generation, id);
CREATE INDEX ix_documents_ocr_blob ON public.documents USING btree (ocr_blob);
CREATE INDEX ix_documents_process_status ON public.documents USING btree (process_status);
CREATE INDEX ix_files_blob ON public.files USING btree (blob);
CREATE INDEX ix_files_created_at ON public.files USING btree (created_at);
CREATE INDEX ix_files_organisation_id ON public.files USING btree (organisation_id);
CREATE INDEX ix_files_user_id ON public.files USING btree (user_id);
CREATE INDEX ix_libraries_created_at ON public.libraries USING btree (created_at);
CREATE UNIQUE INDEX ix_libraries_number ON public.libraries USING btree (number);
CREATE INDEX ix_libraries_organisation_id ON public.libraries USING btree (organisation_id);
CREATE INDEX ix_users_organisation_id ON public.users USING btree (organisation_id);
CREATE INDEX ix_words_runs ON public.words USING gin (public.carrel_runs(word));
CREATE TRIGGER document_words_delete AFTER DELETE ON public.document_words FOR EACH ROW EXECUTE FUNCTION public.carrel_discount_words();
CREATE TRIGGER document_words_insert AFTER INSERT ON public.document_words FOR EACH ROW EXECUTE FUNCTION public.carrel_count_words();
CREATE TRIGGER documents_deleted AFTER DELETE ON public.documents FOR EACH ROW EXECUTE FUNCTION public.carrel_deleted();
CREATE TRIGGER documents_published AFTER UPDATE OF indexed_generation ON public.documents FOR EACH ROW EXECUTE FUNCTION public.carrel_published();
ALTER TABLE ONLY public.agent_aliases
    ADD CONSTRAINT fk_agent_aliases_agent_id_agents FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.agent_versions
    ADD CONSTRAINT fk_agent_versions_agent_id_agents FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT fk_agents_organisation_id_organisations FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT fk_agents_owner_id_users FOREIGN KEY (owner_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT fk_api_keys_user_id_users FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT fk_chunks_document_id_documents FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.document_pages
    ADD CONSTRAINT fk_document_pages_document_id_documents FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.document_words
    ADD CONSTRAINT fk_document_words_document_id_documents FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT fk_documents_library_id_libraries FOREIGN KEY (library_id) REFERENCES public.libraries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files
    ADD CONSTRAINT fk_files_organisation_id_organisations FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files
    ADD CONSTRAINT fk_files_user_id_users FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.libraries
    ADD CONSTRAINT fk_libraries_organisation_id_organisations FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.library_shares
    ADD CONSTRAINT fk_library_shares_library_id_libraries FOREIGN KEY (library_id) REFERENCES public.libraries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.users
    ADD CONSTRAINT fk_users_organisation_id_organisations FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
