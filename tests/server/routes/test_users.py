"""The caller and its organisation."""

import httpx
import pytest

PATHS = ("users/me", "users/me/organizations", "users/me/workspaces", "whoami")


def test_a_key_s_user_and_organisation_are_named_the_same_everywhere(http: httpx.Client) -> None:
    me, organisations, workspaces, whoami = (http.get(f"/v1/{path}").json() for path in PATHS)
    assert me["first_name"] == "local"
    assert (me["email"], me["last_name"]) == (None, None)
    assert organisations == {"organizations": [me["organization"]]}
    assert workspaces == {
        "workspaces": [{**me["workspace"], "organization_id": me["organization"]["id"]}]
    }
    assert whoami["principal"]["principal_type"] == "user"
    assert whoami["principal"]["id"] == me["id"]
    assert whoami["organization"] == me["organization"]
    file = http.post("/v1/libraries", json={"name": "mine"}).json()
    assert file["owner_id"] == me["id"]


@pytest.mark.parametrize("path", PATHS[1:3])
def test_what_comes_after_the_only_one_is_empty(http: httpx.Client, path: str) -> None:
    [kind] = http.get(f"/v1/{path}").json()
    assert http.get(f"/v1/{path}", params={"offset": 1}).json() == {kind: []}
    assert http.get(f"/v1/{path}", params={"limit": 0}).status_code == 422
