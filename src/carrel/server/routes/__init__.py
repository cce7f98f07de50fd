"""The routes: thin, from a request model through a service to an answer model."""
