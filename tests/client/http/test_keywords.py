"""Requests given as keywords."""

import inspect
from typing import Any

import pytest
from pydantic import ValidationError

from carrel.client.http.keywords import fields_of
from carrel.wire.libraries import LibraryCreate, LibraryUpdate


class Area:
    @fields_of(LibraryCreate)
    async def create(self, library: LibraryCreate) -> dict[str, Any]:
        return library.body()

    @fields_of(LibraryUpdate)
    async def update(
        self, library_id: str, changes: LibraryUpdate, on_progress: object = None
    ) -> tuple[str, dict[str, Any], object]:
        return library_id, changes.body(), on_progress


async def test_a_model_and_its_fields_are_the_same_request() -> None:
    area = Area()
    assert await area.create(LibraryCreate(name="x")) == {"name": "x"}
    assert await area.create(library=LibraryCreate(name="x")) == {"name": "x"}
    assert await area.create(name="x") == {"name": "x"}


async def test_fields_stand_beside_ids_and_options() -> None:
    area = Area()
    assert await area.update("7", name="x", on_progress=3) == ("7", {"name": "x"}, 3)
    assert await area.update(library_id="7", name="x") == ("7", {"name": "x"}, None)
    assert await area.update("7", LibraryUpdate(name="x"), 3) == ("7", {"name": "x"}, 3)


def test_the_signature_names_the_fields_with_plain_types() -> None:
    parameters = inspect.signature(Area().update).parameters
    assert [*parameters] == ["library_id", "on_progress", "name", "description"]
    assert parameters["description"].annotation == str | None


async def test_a_wrong_field_is_refused() -> None:
    with pytest.raises(TypeError, match="update has no field 'nmae': did you mean name"):
        await Area().update("7", nmae="x")
    with pytest.raises(ValidationError):
        await Area().create(name="x", chunk_size=1)
