"""The local server as seen from outside: found, started, held by a lease."""
