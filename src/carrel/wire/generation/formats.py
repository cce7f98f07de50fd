"""The response format object, shared by OCR annotations and completions."""

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from carrel.wire.base import JSONObject, Request, Text


class JSONSchema(Request):
    """A named JSON schema. On the wire the schema itself travels as `schema`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Text
    schema_definition: JSONObject = Field(alias="schema")
    description: Text | None = None
    strict: bool = False


class ResponseFormat(Request):
    """`text`, `json_object`, or `json_schema` with its schema."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: JSONSchema | None = None

    @model_validator(mode="after")
    def _check_schema(self) -> "ResponseFormat":
        if self.type == "json_schema" and self.json_schema is None:
            raise ValueError("json_schema is required when type is json_schema")
        return self
