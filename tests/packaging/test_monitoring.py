"""The alerts and the dashboard name metrics that exist, and Prometheus takes them."""

import json
import re
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from support import storage
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import serve
from support.requires import prometheus, promtool
from support.s3 import free_ports
from support.spoken import spoken_model

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]
BOARD = json.loads((DEPLOY / "grafana" / "carrel.json").read_text("utf-8"))
_METRIC = re.compile(r"\b((?:carrel|process)_\w+)")
_SHARED = {"carrel_workers"}
"""Metrics of a shared database alone."""


def _expressions() -> list[str]:
    panels = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
    return [*(alert["expr"] for alert in ALERTS), *panels]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_each_alert_has_its_page(alert: dict[str, Any]) -> None:
    page, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert anchor == alert["alert"].lower()
    assert f"\n## {alert['alert']}\n" in (ROOT / page).read_text("utf-8")


def test_each_page_has_its_alert() -> None:
    pages = re.findall(r"^## (\w+)$", (ROOT / "docs" / "alerts.md").read_text("utf-8"), re.M)
    assert pages == [alert["alert"] for alert in ALERTS]


def test_the_rules_and_the_configuration_are_valid() -> None:
    for check, file in (("rules", RULES), ("config", RULES.with_name("prometheus.yml"))):
        done = subprocess.run([promtool(), "check", check, file], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


_SERIES = {
    "CarrelDown": {'up{job="carrel"}': "1 0x40"},
    "CarrelPartDown": {'carrel_up{part="blobs"}': "1 0x40"},
    "CarrelModelAddressDown": {'carrel_model_up{address="a"}': "1 0x40"},
    "CarrelErrors": {
        'carrel_requests_total{status="500"}': "0+3x40",
        'carrel_requests_total{status="200"}': "0+97x40",
    },
    "CarrelNoWorker": {"carrel_workers": "1 0x40"},
    "CarrelDocumentsWait": {"carrel_oldest_unfinished_document_seconds": "0 901x40"},
    "CarrelJobsFail": {'carrel_jobs_ended_total{queue="q", outcome="error"}': "0+1x40"},
    "CarrelDiskLow": {"carrel_disk_free_bytes": "6e9 4e9x40"},
    "CarrelSlow": {
        'carrel_request_seconds_bucket{method="GET", route="/v1/files", le="2"}': "0+90x40",
        'carrel_request_seconds_bucket{method="GET", route="/v1/files", le="5"}': "0+100x40",
        'carrel_request_seconds_bucket{method="GET", route="/v1/files", le="+Inf"}': "0+100x40",
    },
    "CarrelFirstTokenSlow": {
        'carrel_model_first_token_seconds_bucket{model="m", le="15"}': "0+9x40",
        'carrel_model_first_token_seconds_bucket{model="m", le="30"}': "0+10x40",
        'carrel_model_first_token_seconds_bucket{model="m", le="+Inf"}': "0+10x40",
    },
    "CarrelConnectionsUsed": {
        'carrel_database_connections{state="used"}': "1 16x40",
        'carrel_database_connections{state="most"}': "17x41",
    },
}
"""What each alert fires for, from the second minute on."""


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_each_alert_fires_for_its_trouble_alone(alert: dict[str, Any], tmp_path: Path) -> None:
    series = [{"series": name, "values": each} for name, each in _SERIES[alert["alert"]].items()]
    expression = f'ALERTS{{alertname="{alert["alert"]}", alertstate="firing"}}'
    others = 'ALERTS{alertname!="' + alert["alert"] + '", alertstate="firing"}'
    test = {
        "interval": "1m",
        "input_series": series,
        "promql_expr_test": [
            {"expr": f"count({asked}) or vector(0)", "eval_time": at, "exp_samples": [sample]}
            for asked, at, count in (
                (expression, "1m", 0),
                (expression, "40m", 1),
                (others, "40m", 0),
            )
            for sample in ({"labels": "{}", "value": count},)
        ],
    }
    rules = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
    (tmp_path / "test.yml").write_text(yaml.safe_dump(rules))
    command = [promtool(), "test", "rules", str(tmp_path / "test.yml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@storage.only_alone
def test_prometheus_takes_the_metrics_that_alerts_and_dashboard_name(tmp_path: Path) -> None:
    ours, theirs = free_ports(2)
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {"job_name": "carrel", "static_configs": [{"targets": [f"127.0.0.1:{ours}"]}]}
        ],
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    command = [
        *(prometheus(), f"--config.file={tmp_path / 'prometheus.yml'}"),
        *(f"--storage.tsdb.path={tmp_path / 'series'}", f"--web.listen-address=127.0.0.1:{theirs}"),
    ]
    api = httpx.Client(base_url=f"http://127.0.0.1:{theirs}/api/v1", timeout=30)
    with (
        spoken_model() as model,
        serve(
            *(tmp_path / "data", "--metrics", f"127.0.0.1:{ours}", "--model-url", model.url)
        ) as server,
        connect(server) as http,
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
        api,
    ):
        try:
            http.get("/v1/files")
            _until_scraped(api)
            library = new_library(http)
            deadline = time.monotonic() + 60
            while empty := _panels_without_data(api):
                assert time.monotonic() < deadline, empty
                _work(library)
            known = set(api.get("/label/__name__/values").json()["data"])
            named = {name for text in _expressions() for name in _METRIC.findall(text)}
            assert named - _SHARED <= known
            rules = api.get("/rules").json()["data"]["groups"][0]["rules"]
            assert {rule["health"] for rule in rules} <= {"ok", "unknown"}
            assert not [rule["name"] for rule in rules if rule["state"] == "firing"]
            for expression in _expressions():
                answer = api.get("/query", params={"query": expression}).json()
                assert answer["status"] == "success", expression
        finally:
            process.terminate()


def _work(library: LibraryUnderTest) -> None:
    """What each panel of the dashboard counts, once."""
    library.processed("a.txt", uuid.uuid4().bytes.hex().encode())
    question = {"model": "spoken", "messages": [{"role": "user", "content": "Hello"}]}
    library.http.post("/v1/chat/completions", json=question).raise_for_status()


def _panels_without_data(api: httpx.Client) -> list[str]:
    """The panels that show nothing now: an expression without a series, or with no number."""
    empty = []
    for panel in BOARD["panels"]:
        for target in panel["targets"]:
            found = api.get("/query", params={"query": target["expr"]}).json()["data"]["result"]
            if not found or any(series["value"][1] == "NaN" for series in found):
                empty.append(panel["title"])
    return empty


def _until_scraped(api: httpx.Client) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            up = api.get("/query", params={"query": "carrel_up"}).json()
            rules = api.get("/rules").json()["data"]["groups"]
        except (httpx.TransportError, ValueError):  # it answers in words until it is ready
            up, rules = {}, []
        if up.get("data", {}).get("result") and rules and rules[0]["rules"][0]["lastEvaluation"]:
            return
        assert time.monotonic() < deadline
        time.sleep(0.2)
