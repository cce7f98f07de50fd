"""What the server remembers: tables, the database, migrations, and the queries of each area."""
