"""What every request and answer has in common."""

import json

import pytest
from pydantic import ValidationError

from carrel.wire.files import FileQuery, FileUpload, SignedURL, SignedURLQuery
from carrel.wire.generation.agents import AgentAlias, AgentCreate, AgentUpdate
from carrel.wire.generation.completions import (
    CompletionChunk,
    CompletionRequest,
    Delta,
    UserMessage,
)
from carrel.wire.generation.tools import ConnectorAuthorization


def test_a_null_in_a_request_counts_as_absent() -> None:
    upload = FileUpload.model_validate({"purpose": None, "visibility": None, "expiry": None})
    assert upload == FileUpload()
    assert upload.visibility == "workspace"


def test_a_null_in_an_agent_update_clears_what_may_be_empty_and_nothing_else() -> None:
    update = AgentUpdate.model_validate({"description": None, "name": None, "tools": None})
    assert update.body() == {"description": None, "tools": None}


def test_an_unknown_field_of_a_request_is_refused_by_its_name() -> None:
    with pytest.raises(ValidationError) as caught:
        FileQuery.model_validate({"page": 0, "sise": 3})
    (error,) = caught.value.errors()
    assert (error["type"], error["loc"]) == ("extra_forbidden", ("sise",))


@pytest.mark.parametrize("value", ["\x00", "a\x00b"])
def test_nul_is_refused_in_text(value: str) -> None:
    with pytest.raises(ValidationError, match="NUL"):
        AgentCreate(model="m", name=value)


@pytest.mark.parametrize("value", ["", " ", "\n\t"])
def test_an_empty_name_is_refused_in_plain_words(value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        AgentCreate(model="m", name=value)
    (error,) = caught.value.errors()
    assert (error["loc"], error["msg"]) == (("name",), "This must not be empty")


@pytest.mark.parametrize("value", ["\ud800", "a\udfff"])
def test_half_a_surrogate_pair_is_refused_in_text(value: str) -> None:
    with pytest.raises(ValidationError):
        AgentCreate(model="m", name=value)


@pytest.mark.parametrize("value", ["\ud800", float("nan"), [float("inf")], {"\udfff": 1}])
def test_what_no_answer_could_carry_back_is_refused_in_metadata(value: object) -> None:
    with pytest.raises(ValidationError):
        AgentCreate(model="m", name="n", metadata={"key": value})


@pytest.mark.parametrize("page", [-1, 2**31, 10**30])
def test_integers_stay_within_what_a_database_holds(page: int) -> None:
    with pytest.raises(ValidationError):
        FileQuery(page=page)


@pytest.mark.parametrize(("hours", "fits"), [(0, False), (1, True), (168, True), (169, False)])
def test_a_signed_address_lasts_one_hour_to_seven_days(hours: int, fits: bool) -> None:
    if fits:
        assert SignedURLQuery(expiry=hours).expiry == hours
    else:
        with pytest.raises(ValidationError):
            SignedURLQuery(expiry=hours)


def test_the_tag_of_a_message_travels_though_it_is_a_default() -> None:
    request = CompletionRequest(agent_id="ag_1", messages=[UserMessage(content="hi")])
    assert request.body() == {
        "agent_id": "ag_1",
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_a_date_time_without_an_offset_means_utc_and_is_sent_with_one() -> None:
    alias = AgentAlias.model_validate(
        {
            "alias": "prod",
            "version": 1,
            "created_at": "2026-01-02T03:04:05",
            "updated_at": "2026-01-02T05:04:05.123456+02:00",
        }
    )
    sent = json.loads(alias.model_dump_json())
    assert sent["created_at"] == "2026-01-02T03:04:05.000000Z"
    assert alias.updated_at > alias.created_at


def test_keys_that_some_clients_refuse_as_null_are_left_out() -> None:
    chunk = CompletionChunk.model_validate(
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": "a"}}]}
    )
    sent = json.loads(chunk.model_dump_json())
    assert "usage" not in sent
    assert sent["choices"] == [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]
    assert Delta().model_dump() == {}


def test_what_opens_something_is_not_in_a_repr() -> None:
    signed = SignedURL(url="https://h/signed/s3cr3t")
    authorization = ConnectorAuthorization(type="api-key", value="s3cr3t")
    assert "s3cr3t" not in f"{signed!r}{signed}{authorization!r}{authorization}"
    assert "s3cr3t" in signed.model_dump_json() and "s3cr3t" in authorization.model_dump_json()
