"""The API client: httpx, async, a module an area."""
