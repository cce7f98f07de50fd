"""The database: tables, migrations, and the dialects of SQLite and PostgreSQL."""
