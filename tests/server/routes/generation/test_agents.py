"""The agents routes over a real socket."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from support.libraries import connect, new_library
from support.process import RunningServer

Json = dict[str, Any]


def create(http: httpx.Client, **fields: Any) -> Json:
    answer = http.post("/v1/agents", json={"model": "smollm2", "name": "clerk", **fields})
    assert answer.status_code == 200, answer.text
    agent: Json = answer.json()
    return agent


def change(http: httpx.Client, agent: Json, **fields: Any) -> Json:
    answer = http.patch(f"/v1/agents/{agent['id']}", json=fields)
    assert answer.status_code == 200, answer.text
    changed: Json = answer.json()
    return changed


def names(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [agent["name"] for agent in (body["data"] if isinstance(body, dict) else body)]


def test_a_new_agent_is_version_0_with_everything_it_was_given(http: httpx.Client) -> None:
    given: Json = {
        "description": "d",
        "instructions": "i",
        "tools": [
            {"type": "document_library", "library_ids": [new_library(http).id]},
            {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        ],
        "handoffs": [create(http)["id"]],
        "metadata": {"a": 1, "b": {"c": [True, None]}},
        "version_message": "first",
    }
    agent = create(http, **given)
    assert agent["id"].startswith("ag_")
    assert {key: agent[key] for key in given} == given
    assert (agent["version"], agent["versions"]) == (0, [0])
    assert (agent["object"], agent["source"], agent["deployment_chat"]) == ("agent", "api", False)
    assert agent["created_at"] == agent["updated_at"]
    assert agent["created_at"].endswith("Z")
    assert http.get(f"/v1/agents/{agent['id']}").json() == agent


def test_keys_that_clients_cannot_take_as_null_never_are(http: httpx.Client) -> None:
    agent = create(http, tools=None, completion_args=None)
    assert agent["tools"] == []
    assert agent["completion_args"]["tool_choice"] == "auto"
    assert agent["completion_args"]["temperature"] is None


def test_completion_arguments_come_back_as_given(http: httpx.Client) -> None:
    schema = {"name": "n", "schema": {"type": "object"}}
    given: Json = {
        "temperature": 0.2,
        "stop": ["a"],
        "tool_choice": "none",
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    kept = create(http, completion_args=given)["completion_args"]
    assert {key: kept[key] for key in given} == given


def test_every_update_is_a_new_version_and_the_old_ones_stay(http: httpx.Client) -> None:
    agent = create(http, instructions="first", metadata={"a": 1})
    same = change(http, agent)
    assert (same["version"], same["versions"]) == (1, [0, 1])
    assert same["instructions"] == "first"
    new = change(
        http, agent, instructions=None, name="second", version_message="why", deployment_chat=True
    )
    assert (new["version"], new["versions"]) == (2, [0, 1, 2])
    assert (new["instructions"], new["name"], new["metadata"]) == (None, "second", {"a": 1})
    assert (new["version_message"], new["deployment_chat"]) == ("why", True)
    assert new["updated_at"] > agent["updated_at"]
    old = http.get(f"/v1/agents/{agent['id']}/versions/0").json()
    assert (old["version"], old["versions"]) == (0, [0, 1, 2])
    assert (old["instructions"], old["name"], old["version_message"]) == ("first", "clerk", None)


def test_a_null_clears_what_may_be_empty(http: httpx.Client) -> None:
    function = {"type": "function", "function": {"name": "f", "parameters": {}}}
    agent = create(
        http,
        tools=[function],
        completion_args={"temperature": 0.5},
        handoffs=[create(http)["id"]],
        description="d",
    )
    cleared = change(
        http, agent, tools=None, completion_args=None, handoffs=None, description=None, name=None
    )
    assert (cleared["tools"], cleared["handoffs"], cleared["description"]) == ([], None, None)
    assert cleared["completion_args"]["temperature"] is None
    assert cleared["name"] == agent["name"]


def test_deployment_in_the_chat_belongs_to_a_version(http: httpx.Client) -> None:
    agent = create(http, name="Deployed by version")
    path = f"/v1/agents/{agent['id']}"
    assert change(http, agent, deployment_chat=True)["deployment_chat"]
    assert change(http, agent, description="d")["deployment_chat"]
    kept = [version["deployment_chat"] for version in http.get(f"{path}/versions").json()]
    assert kept == [True, True, False]
    for version, deployed in ((0, False), (1, True), (0, False)):
        switched = http.patch(f"{path}/version", params={"version": version}).json()
        assert switched["deployment_chat"] is deployed
        query: dict[str, str] = {"deployment_chat": "true", "name": "Deployed by version"}
        assert len(http.get("/v1/agents", params=query).json()) == deployed


def test_handoffs_name_agents_that_exist(http: httpx.Client) -> None:
    agent = create(http)
    wrong = {"handoffs": [agent["id"], "ag_nobody"]}
    refused = (
        http.post("/v1/agents", json={"model": "m", "name": "n", **wrong}),
        http.patch(f"/v1/agents/{agent['id']}", json=wrong),
    )
    for answer in refused:
        assert answer.status_code == 422
        [detail] = answer.json()["detail"]
        assert detail["loc"] == ["body", "handoffs", 1]
        assert "ag_nobody" in detail["msg"]


def test_a_switch_moves_the_pointer_and_the_next_update_starts_from_there(
    http: httpx.Client,
) -> None:
    agent = create(http, instructions="zero")
    change(http, agent, instructions="one")
    path = f"/v1/agents/{agent['id']}/version"
    back = http.patch(path, params={"version": 0}).json()
    assert (back["version"], back["versions"], back["instructions"]) == (0, [0, 1], "zero")
    by_body = http.patch(path, json={"version": 1}).json()
    assert (by_body["version"], by_body["instructions"]) == (1, "one")
    http.patch(path, params={"version": 0})
    branched = change(http, agent, name="branched")
    assert (branched["version"], branched["instructions"]) == (2, "zero")


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        ({"version": 7}, None, 404),
        ({}, {"version": 7}, 404),
        ({"version": -1}, None, 422),
        ({"version": "x"}, None, 422),
        ({"version": 2**40}, None, 422),
        ({}, {}, 422),
        ({}, {"version": None}, 422),
        ({}, [1], 422),
        ({}, None, 422),
    ],
)
def test_a_switch_to_nowhere_is_refused(
    http: httpx.Client, query: Json, body: object, status: int
) -> None:
    path = f"/v1/agents/{create(http)['id']}/version"
    answer = (
        http.patch(path, params=query)
        if body is None
        else http.patch(path, params=query, json=body)
    )
    assert answer.status_code == status


def test_updates_at_the_same_time_lose_none(server: RunningServer, http: httpx.Client) -> None:
    agent = create(http)

    def rename(number: int) -> int:
        with connect(server) as own:
            return int(change(own, agent, name=f"name {number}")["version"])

    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(rename, range(24)))
    assert sorted(given) == list(range(1, 25))
    versions = http.get(f"/v1/agents/{agent['id']}/versions", params={"page_size": 100}).json()
    assert {version["name"] for version in versions} == {
        "clerk",
        *(f"name {number}" for number in range(24)),
    }
    for version in versions[:-1]:
        assert version["name"] == f"name {given.index(version['version'])}"


def test_versions_are_paged_newest_first(http: httpx.Client) -> None:
    agent = create(http)
    for _ in range(4):
        change(http, agent)
    path = f"/v1/agents/{agent['id']}/versions"
    pages = [http.get(path, params={"page": page, "page_size": 2}).json() for page in range(4)]
    assert [[version["version"] for version in page] for page in pages] == [[4, 3], [2, 1], [0], []]


def test_an_alias_names_a_version_and_can_be_moved(http: httpx.Client) -> None:
    agent = create(http, instructions="zero")
    change(http, agent, instructions="one")
    path = f"/v1/agents/{agent['id']}/aliases"
    first = http.put(path, params={"alias": "prod", "version": 0}).json()
    assert (first["alias"], first["version"]) == ("prod", 0)

    def through_alias() -> Json:
        answer = http.get(f"/v1/agents/{agent['id']}", params={"agent_version": "prod"})
        found: Json = answer.json()
        return found

    assert through_alias()["instructions"] == "zero"
    moved = http.put(path, params={"alias": "prod", "version": 1}).json()
    assert (moved["version"], moved["created_at"]) == (1, first["created_at"])
    assert through_alias()["instructions"] == "one"
    assert http.get(path).json() == [moved]
    assert http.delete(path, params={"alias": "prod"}).status_code == 204
    assert http.delete(path, params={"alias": "prod"}).status_code == 404
    assert http.get(path).json() == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"alias": "prod", "version": 5}, 404),
        ({"alias": "Prod", "version": 0}, 422),
        ({"alias": "1st", "version": 0}, 422),
        ({"alias": "a" * 65, "version": 0}, 422),
        ({"alias": "prod"}, 422),
        ({"version": 0}, 422),
    ],
)
def test_an_alias_that_cannot_be_is_refused(http: httpx.Client, query: Json, status: int) -> None:
    path = f"/v1/agents/{create(http)['id']}/aliases"
    assert http.put(path, params=query).status_code == status


@pytest.mark.parametrize("version", ["1", "-1", "x", "99999999999999999999", "²"])
def test_a_version_that_is_not_there_is_not_found(http: httpx.Client, version: str) -> None:
    agent = create(http)
    asked = http.get(f"/v1/agents/{agent['id']}", params={"agent_version": version})
    assert asked.status_code == 404


def test_a_deleted_agent_is_gone_with_its_versions(http: httpx.Client) -> None:
    agent = create(http)
    path = f"/v1/agents/{agent['id']}"
    http.put(f"{path}/aliases", params={"alias": "prod", "version": 0})
    gone = http.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    for below in ("", "/versions", "/versions/0", "/aliases"):
        assert http.get(path + below).status_code == 404
    assert http.patch(path, json={}).status_code == 404
    assert http.delete(path).status_code == 404


def test_the_list_has_filters(http: httpx.Client) -> None:
    kept = create(http, name="Filter me", metadata={"team": "a", "nested": {"x": [1]}})
    create(http, name="filter me too", metadata={"team": "b"})
    change(http, kept, deployment_chat=True)

    def found(**query: Any) -> list[str]:
        return sorted(names(http.get("/v1/agents", params={"search": "FILTER ME", **query})))

    both = ["Filter me", "filter me too"]
    assert found() == both
    assert found(name="Filter me") == ["Filter me"]
    assert found(id=kept["id"]) == ["Filter me"]
    assert found(deployment_chat="true") == ["Filter me"]
    assert found(sources=["api", "playground"]) == both
    assert found(sources="playground") == []
    assert found(metadata='{"team": "b"}') == ["filter me too"]
    assert found(metadata='{"nested": {"x": [1]}, "team": "a"}') == ["Filter me"]
    assert found(metadata='{"team": "b"}', page=1) == []
    assert names(http.get("/v1/agents", params={"search": kept["id"][5:]})) == ["Filter me"]
    assert names(http.get("/v1/agents", params={"search": "%"})) == []


@pytest.mark.parametrize("metadata", ['"~?~unset~?~sentinel~?~"', "null", "{", "[]"])
@pytest.mark.parametrize("path", ["/v1/agents", "/v1/agents/pages"])
def test_metadata_that_is_no_object_counts_as_absent(
    http: httpx.Client, path: str, metadata: str
) -> None:
    create(http, name="there")
    assert "there" in names(http.get(path, params={"metadata": metadata, "page_size": 100}))


def test_pages_by_token_show_each_agent_once_though_others_come_and_go(
    http: httpx.Client,
) -> None:
    made = [create(http, name=f"token {number}") for number in range(5)]
    query: Json = {"search": "token", "page_size": 2}
    seen: list[str] = []
    while True:
        page = http.get("/v1/agents/pages", params=query).json()
        seen += [agent["name"] for agent in page["data"]]
        create(http, name="token late")
        if page["next_page_token"] is None:
            break
        query["page_token"] = page["next_page_token"]
        http.delete(f"/v1/agents/{made[4]['id']}")
    assert seen == [f"token {number}" for number in reversed(range(5))]
    assert page["object"] == "list"


@pytest.mark.parametrize("token", ["x", "é", "MTIz", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OmE="])
def test_a_token_that_is_none_is_refused(http: httpx.Client, token: str) -> None:
    answer = http.get("/v1/agents/pages", params={"page_token": token})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", "page_token"]


@pytest.mark.parametrize(
    ("fields", "loc"),
    [
        ({"name": ""}, "name"),
        ({"model": "a\x00"}, "model"),
        ({"version_message": "x" * 501}, "version_message"),
        ({"handoffs": []}, "handoffs"),
        ({"tools": [{"type": "unknown"}]}, "tools"),
        ({"completion_args": {"temperature": 2}}, "completion_args"),
        ({"temperature": 1}, "temperature"),
    ],
)
def test_an_impossible_agent_is_refused(http: httpx.Client, fields: Json, loc: str) -> None:
    body = {"model": "m", "name": "n", **fields}
    for answer in (
        http.post("/v1/agents", json=body),
        http.patch(f"/v1/agents/{create(http)['id']}", json=fields),
    ):
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"][:2] == ["body", loc]
