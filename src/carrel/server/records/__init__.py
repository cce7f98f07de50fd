"""The server's records: tables, database, migrations, and the queries of each area."""
