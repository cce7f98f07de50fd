"""The two base models: requests and responses."""

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from carrel.text import clean_name

MAX_INT = 2**31 - 1
"""The largest integer any field accepts: what every database column can hold."""

MOST_STORED = 1_000_000
"""Letters of the fields of an agent or a library, about twice what a large context holds."""


def omitted_when_none(description: str | None = None) -> Any:
    """Return a field that is left out of the JSON while it is None.

    Some official clients reject null where they accept an absent key.
    """
    return Field(default=None, exclude_if=lambda value: value is None, description=description)


def _storable_text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not contain a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half a surrogate pair") from None
    return value


_DEEPEST = 100
"""Levels of a JSON value; serializers end at 255."""


def _is_deeper(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return False
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in value)


def _storable_json(value: dict[str, Any]) -> dict[str, Any]:
    if _is_deeper(value, _DEEPEST):
        raise ValueError(f"must not be nested more than {_DEEPEST} deep")
    # JSON can encode NaN and lone surrogates, which no response could carry back.
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half a surrogate pair") from None
    except ValueError:
        raise ValueError("must not contain numbers that are not finite") from None
    return value


Text = Annotated[str, AfterValidator(_storable_text)]
"""Any text a caller sends: everything but NUL, which no database column stores."""


def _check_not_empty(value: str) -> str:
    value = clean_name(value)
    if not value.strip():
        raise PydanticCustomError("empty", "This must not be empty")
    return value


Name = Annotated[
    Text, AfterValidator(_check_not_empty), WithJsonSchema({"type": "string", "minLength": 1})
]
"""A text that is not blank."""

JSONObject = Annotated[dict[str, Any], AfterValidator(_storable_json)]
"""A JSON object of any shape that a caller sends."""


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


Count = Annotated[int, BeforeValidator(_refuse_bool), Field(ge=0, le=MAX_INT)]
"""A whole number from 0 that fits a database column."""


def _iso(value: datetime) -> str:
    return value.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _assume_utc(value: datetime) -> datetime:
    # Some services answer naive date-times; they mean UTC.
    return value if value.tzinfo else value.replace(tzinfo=UTC)


Timestamp = Annotated[
    datetime, AfterValidator(_assume_utc), PlainSerializer(_iso, return_type=str, when_used="json")
]
"""A date-time field: ISO 8601 with an offset, microseconds, `Z` for UTC."""


class Request(BaseModel):
    """A request body.

    Unknown fields are an error. A null counts as absent (several clients send
    every optional field as null), except in fields of `keeps_null`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    keeps_null: ClassVar[Collection[str]] = ()
    """The fields whose null says something, such as that a value is cleared."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if isinstance(data, dict):
            kept = cls.keeps_null
            return {key: value for key, value in data.items() if value is not None or key in kept}
        return data

    @model_validator(mode="after")
    def _send_tag(self) -> Self:
        # The tag of a union is sent even at its default.
        self.model_fields_set.update({"type", "role"} & type(self).model_fields.keys())
        return self

    def body(self) -> dict[str, Any]:
        """Return the JSON body: only the fields that were set."""
        return self.model_dump(mode="json", exclude_unset=True, by_alias=True)


class Stored(Request):
    """A request that is stored and listed: its fields are bounded together."""

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        lengths = {
            name: len(json.dumps(value, ensure_ascii=False)) for name, value in self.body().items()
        }
        if sum(lengths.values()) > MOST_STORED:
            field = max(lengths, key=lambda name: lengths[name])
            raise PydanticCustomError(
                "too_long",
                "{field} has {letters} letters as JSON; all fields together may have {most}",
                {"field": field, "letters": lengths[field], "most": MOST_STORED},
            )
        return self


class ResponseModel(BaseModel):
    """A response body. Unknown fields are ignored, so newer services still parse."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, json_schema_serialization_defaults_required=True
    )
