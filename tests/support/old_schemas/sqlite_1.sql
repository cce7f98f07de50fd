CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE organisations (
	id VARCHAR(36) NOT NULL, 
	name TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_organisations PRIMARY KEY (id)
);
CREATE TABLE libraries (
	id VARCHAR(36) NOT NULL, 
	organisation_id VARCHAR(36) NOT NULL, 
	owner_id VARCHAR(36) NOT NULL, 
	owner_type TEXT NOT NULL, 
	name TEXT NOT NULL, 
	description TEXT, 
	chunk_size INTEGER, 
	emoji TEXT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_libraries PRIMARY KEY (id), 
	CONSTRAINT fk_libraries_organisation_id_organisations FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX ix_libraries_created_at ON libraries (created_at);
CREATE INDEX ix_libraries_organisation_id ON libraries (organisation_id);
CREATE TABLE users (
	id VARCHAR(36) NOT NULL, 
	organisation_id VARCHAR(36) NOT NULL, 
	name TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT fk_users_organisation_id_organisations FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX ix_users_organisation_id ON users (organisation_id);
CREATE TABLE agents (
	id VARCHAR(36) NOT NULL, 
	organisation_id VARCHAR(36) NOT NULL, 
	owner_id VARCHAR(36) NOT NULL, 
	active_version INTEGER NOT NULL, 
	deployment_chat BOOLEAN NOT NULL, 
	source TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_agents PRIMARY KEY (id), 
	CONSTRAINT fk_agents_owner_id_users FOREIGN KEY(owner_id) REFERENCES users (id), 
	CONSTRAINT fk_agents_organisation_id_organisations FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX ix_agents_created_at ON agents (created_at);
CREATE INDEX ix_agents_organisation_id ON agents (organisation_id);
CREATE TABLE api_keys (
	id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	name TEXT NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	revoked_at BIGINT, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT uq_api_keys_hash UNIQUE (hash), 
	CONSTRAINT fk_api_keys_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_api_keys_user_id ON api_keys (user_id);
CREATE TABLE documents (
	id VARCHAR(36) NOT NULL, 
	library_id VARCHAR(36) NOT NULL, 
	name TEXT NOT NULL, 
	blob VARCHAR(64) NOT NULL, 
	size BIGINT NOT NULL, 
	mime_type TEXT, 
	extension TEXT, 
	uploaded_by_id VARCHAR(36) NOT NULL, 
	uploaded_by_type TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	attributes JSON, 
	summary TEXT, 
	process_status VARCHAR(32) NOT NULL, 
	generation INTEGER NOT NULL, 
	indexed_generation INTEGER, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	not_before BIGINT, 
	error TEXT, 
	last_processed_at BIGINT, 
	number_of_pages INTEGER, 
	ocr_blob VARCHAR(64), 
	tokens_main BIGINT, 
	tokens_summary BIGINT, 
	tokens_total BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_documents PRIMARY KEY (id), 
	CONSTRAINT uq_documents_library_id_blob UNIQUE (library_id, blob), 
	CONSTRAINT fk_documents_library_id_libraries FOREIGN KEY(library_id) REFERENCES libraries (id) ON DELETE CASCADE
);
CREATE INDEX ix_documents_blob ON documents (blob);
CREATE INDEX ix_documents_created_at ON documents (created_at);
CREATE INDEX ix_documents_library_id ON documents (library_id);
CREATE INDEX ix_documents_ocr_blob ON documents (ocr_blob);
CREATE INDEX ix_documents_process_status ON documents (process_status);
CREATE TABLE files (
	id VARCHAR(36) NOT NULL, 
	organisation_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	filename TEXT NOT NULL, 
	blob VARCHAR(64) NOT NULL, 
	bytes BIGINT NOT NULL, 
	purpose TEXT NOT NULL, 
	sample_type TEXT NOT NULL, 
	source TEXT NOT NULL, 
	num_lines BIGINT, 
	mimetype TEXT, 
	visibility TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	CONSTRAINT pk_files PRIMARY KEY (id), 
	CONSTRAINT fk_files_organisation_id_organisations FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE, 
	CONSTRAINT fk_files_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_files_blob ON files (blob);
CREATE INDEX ix_files_created_at ON files (created_at);
CREATE INDEX ix_files_organisation_id ON files (organisation_id);
CREATE INDEX ix_files_user_id ON files (user_id);
CREATE TABLE library_shares (
	library_id VARCHAR(36) NOT NULL, 
	share_with_type VARCHAR(16) NOT NULL, 
	share_with_uuid VARCHAR(36) NOT NULL, 
	organisation_id VARCHAR(36) NOT NULL, 
	role TEXT NOT NULL, 
	CONSTRAINT pk_library_shares PRIMARY KEY (library_id, share_with_type, share_with_uuid), 
	CONSTRAINT fk_library_shares_library_id_libraries FOREIGN KEY(library_id) REFERENCES libraries (id) ON DELETE CASCADE
);
CREATE TABLE agent_aliases (
	agent_id VARCHAR(36) NOT NULL, 
	alias VARCHAR(64) NOT NULL, 
	version INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_agent_aliases PRIMARY KEY (agent_id, alias), 
	CONSTRAINT fk_agent_aliases_agent_id_agents FOREIGN KEY(agent_id) REFERENCES agents (id) ON DELETE CASCADE
);
CREATE TABLE agent_versions (
	agent_id VARCHAR(36) NOT NULL, 
	number INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	model TEXT NOT NULL, 
	settings JSON NOT NULL, 
	message TEXT, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_agent_versions PRIMARY KEY (agent_id, number), 
	CONSTRAINT fk_agent_versions_agent_id_agents FOREIGN KEY(agent_id) REFERENCES agents (id) ON DELETE CASCADE
);
CREATE TABLE chunks (
	id INTEGER NOT NULL, 
	document_id VARCHAR(36) NOT NULL, 
	library_id VARCHAR(36) NOT NULL, 
	generation INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	page INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	vector BLOB, 
	CONSTRAINT pk_chunks PRIMARY KEY (id), 
	CONSTRAINT uq_chunks_document_id_generation_position UNIQUE (document_id, generation, position), 
	CONSTRAINT fk_chunks_document_id_documents FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE
);
CREATE INDEX ix_chunks_document_id ON chunks (document_id);
CREATE INDEX ix_chunks_library_id ON chunks (library_id);
CREATE TABLE document_pages (
	document_id VARCHAR(36) NOT NULL, 
	generation INTEGER NOT NULL, 
	page INTEGER NOT NULL, 
	markdown TEXT NOT NULL, 
	CONSTRAINT pk_document_pages PRIMARY KEY (document_id, generation, page), 
	CONSTRAINT fk_document_pages_document_id_documents FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE
);
CREATE VIRTUAL TABLE chunks_fts USING fts5(
        text, content='chunks', content_rowid='id',
        tokenize="porter unicode61 remove_diacritics 2"
    );
CREATE TRIGGER chunks_fts_insert AFTER INSERT ON chunks BEGIN
        INSERT INTO chunks_fts(rowid, text) VALUES (new.id, new.text);
    END;
CREATE TRIGGER chunks_fts_delete AFTER DELETE ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, text) VALUES ('delete', old.id, old.text);
    END;
CREATE TRIGGER chunks_fts_update AFTER UPDATE OF text ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, text) VALUES ('delete', old.id, old.text);
        INSERT INTO chunks_fts(rowid, text) VALUES (new.id, new.text);
    END;
