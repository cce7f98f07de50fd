"""Addresses signed for an S3-compatible store, without one."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.blobs.bucket import Bucket

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "quite-secret"}
BUCKET = Bucket.of("s3://shelf/deep/er", {**CREDENTIALS, "AWS_ENDPOINT_URL": "http://s3.test:1/"})
QUERY = {"response-content-disposition": "attachment; filename*=utf-8''a%20+b.txt"}


def test_a_signature_is_the_one_that_the_protocols_documentation_computes() -> None:
    # The example of "Authenticating Requests: Using Query Parameters". It has the bucket in the
    # host, so what stands for the bucket here is the object.
    bucket = Bucket(
        name="test.txt",
        prefix="",
        endpoint="https://examplebucket.s3.amazonaws.com",
        region="us-east-1",
        access_key="AKIAIOSFODNN7EXAMPLE",
        secret_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        session_token=None,
    )
    url = bucket.sign("GET", "", 86400, now=datetime(2013, 5, 24, tzinfo=UTC))
    assert url.endswith(
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )


@given(key=st.text(min_size=1, max_size=40), name=st.text(max_size=40))
def test_an_address_gives_back_what_was_signed(key: str, name: str) -> None:
    url = BUCKET.sign("GET", key, 60, {"name": name}, NOW)
    assert BUCKET.verify(url, NOW) == (key, {"name": name})


@given(data=st.data())
def test_no_character_of_an_address_can_be_changed(data: st.DataObject) -> None:
    url = BUCKET.sign("GET", "deep/er/aa/b", 60, QUERY, NOW)
    position = data.draw(st.integers(0, len(url) - 1))
    other = data.draw(st.characters().filter(lambda c: c != url[position]))
    assert BUCKET.verify(url[:position] + other + url[position + 1 :], NOW) is None


def test_an_address_works_until_the_second_it_expires_and_for_its_method() -> None:
    url = BUCKET.sign("GET", "k", 60, now=NOW)
    assert BUCKET.verify(url, NOW + timedelta(seconds=59))
    assert BUCKET.verify(url, NOW + timedelta(seconds=60)) is None
    assert BUCKET.verify(BUCKET.sign("DELETE", "k", 60, now=NOW), NOW) is None
    assert BUCKET.verify("http://s3.test:1/shelf/k", NOW) is None


@pytest.mark.parametrize("expires", ["-1", "x", "9" * 5000, "99999999999999"])
def test_a_senseless_expiry_opens_nothing(expires: str) -> None:
    url = BUCKET.sign("GET", "k", 60, now=NOW).replace("Expires=60", f"Expires={expires}")
    assert BUCKET.verify(url, NOW) is None


def test_the_store_is_found_by_the_usual_variables() -> None:
    assert BUCKET.prefix == "deep/er/"
    assert BUCKET.endpoint == "http://s3.test:1"
    there = Bucket.of("s3://shelf", {**CREDENTIALS, "AWS_REGION": "eu-west-3"})
    assert (there.prefix, there.endpoint) == ("", "https://s3.eu-west-3.amazonaws.com")
    short_lived = Bucket.of("s3://shelf", {**CREDENTIALS, "AWS_SESSION_TOKEN": "t/1"})
    assert "X-Amz-Security-Token=t%2F1" in short_lived.sign("GET", "k", 60)


def test_what_is_secret_is_not_shown() -> None:
    bucket = Bucket.of("s3://shelf", {**CREDENTIALS, "AWS_SESSION_TOKEN": "passing"})
    for text in (repr(bucket), str(bucket)):
        assert "quite-secret" not in text
        assert "passing" not in text


@pytest.mark.parametrize("url", ["shelf", "http://shelf/x", "s3://", "s3:///x", "s3://a/b?c=d"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="s3://bucket/prefix"):
        Bucket.of(url, CREDENTIALS)


def test_missing_credentials_are_named() -> None:
    with pytest.raises(ValueError, match="AWS_SECRET_ACCESS_KEY"):
        Bucket.of("s3://shelf", {"AWS_ACCESS_KEY_ID": "AKIA"})
