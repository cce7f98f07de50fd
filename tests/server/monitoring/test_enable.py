"""Metrics, traces and log lines of a real server, read as an operator's tools read them."""

import base64
import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from support.documents import picture, raw_pdf
from support.libraries import connect, new_library
from support.process import RunningServer, serve
from support.s3 import free_ports
from support.spoken import spoken_model

QUESTION = {"messages": [{"role": "user", "content": "hello there"}], "model": "spoken"}


class Collector:
    """A collector of traces at a socket, which keeps what it is sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                if self.path == "/v1/traces":
                    collector.take(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def take(self, sent: Any) -> None:
        for resource in sent.resource_spans:
            self.resources.append(
                {a.key: a.value.string_value for a in resource.resource.attributes}
            )
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()


def _attributes(span: Any) -> dict[str, Any]:
    return {
        item.key: getattr(item.value, item.value.WhichOneof("value")) for item in span.attributes
    }


def _soon(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


Watched = tuple[RunningServer, Collector, str]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A server with metrics, traces and a model, after some work; the trace of an upload."""
    folder = tmp_path_factory.mktemp("watched")
    with pytest.MonkeyPatch.context() as patch, collector() as traces, spoken_model() as model:
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        [port] = free_ports(1)
        options = ["--metrics", f"127.0.0.1:{port}", "--log-format", "json"]
        options += ["--traces", f"http://127.0.0.1:{traces.server.server_port}"]
        with serve(folder / "data", "--model-url", model.url, *options) as server:
            with connect(server) as http:
                _work(http, folder)
            yield server, traces, f"http://127.0.0.1:{port}/metrics"


def _work(http: httpx.Client, folder: Path) -> None:
    library = new_library(http)
    headers = {
        "x-request-id": "upload-of-the-test",
        "traceparent": f"00-{'a' * 32}-{'b' * 16}-01",
    }
    files = {"file": ("heron.md", b"# Heron\n\nA bird.\n")}
    sent = http.post(f"{library.path}/documents", files=files, headers=headers)
    assert library.finished(sent.json()["id"])["process_status"] == "done"
    picture(folder / "scan.png", text="Heron")
    library.processed("scan.png", (folder / "scan.png").read_bytes())
    http.post("/v1/chat/completions", json=QUESTION).raise_for_status()
    with http.stream("POST", "/v1/chat/completions", json={**QUESTION, "stream": True}) as stream:
        stream.read()
    assert http.get("/v1/files/none").status_code == 404
    http.get(f"/nowhere/{'x' * 40}")


def _scrape(address: str) -> dict[tuple[str, ...], float]:
    """Every sample: its name and the values of its labels, sorted by the labels' names."""
    text = httpx.get(address).raise_for_status().text
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_tell_what_was_done_and_what_is_there(watched: Watched) -> None:
    _, _, address = watched
    found = _scrape(address)
    upload = "/v1/libraries/{library_id}/documents"
    assert found["carrel_requests_total", "POST", upload, "200"] == 2
    assert found["carrel_request_seconds_count", "POST", upload] == 2
    assert found["carrel_requests_total", "GET", "none", "404"] >= 1
    assert found["carrel_jobs_ended_total", "done", "documents"] == 2
    assert found["carrel_pages_read_total", "ocr"] == 1
    assert found["carrel_pages_read_total", "text"] == 1
    [model] = {key[1] for key in found if key[0] == "carrel_model_answers_total"}
    assert found["carrel_model_answers_total", model, "done"] == 2
    assert found["carrel_model_first_token_seconds_count", model] == 2
    assert found["carrel_model_tokens_total", "completion", model] > 0
    assert found["carrel_documents", "done"] == 2
    assert found["carrel_stored_bytes", "documents"] > 17
    assert {key[1]: found[key] for key in found if key[0] == "carrel_up"} == {
        "database": 1,
        "blobs": 1,
        "model": 1,
        "ocr": 1,
    }
    assert [found[key] for key in found if key[0] == "carrel_model_up"] == [1]
    assert found["carrel_documents", "error"] == 0
    assert found["carrel_jobs", "documents", "taken"] == 0
    assert found[("process_resident_memory_bytes",)] > 1e6
    assert not any(key[0].endswith("_created") for key in found)
    assert found["carrel_database_connections", "most"] >= 5
    assert found[("carrel_oldest_unfinished_document_seconds",)] == 0
    assert found["carrel_in_progress", "stream"] == 0
    assert not any("xxxx" in label for key in found for label in key)


def test_a_trace_goes_from_the_request_to_the_reading(watched: Watched) -> None:
    _, traces, _ = watched
    upload = "POST /v1/libraries/{library_id}/documents"
    _soon(lambda: len(traces.named("chat spoken")) == 2 and len(traces.named("job")) == 2)
    [request] = [span for span in traces.named(upload) if span.trace_id == b"\xaa" * 16]
    assert request.parent_span_id == b"\xbb" * 8
    assert _attributes(request)["http.response.status_code"] == 200
    [job] = [span for span in traces.named("job") if span.trace_id == request.trace_id]
    assert job.parent_span_id == request.span_id
    [reading] = [span for span in traces.named("reading") if span.trace_id == request.trace_id]
    assert reading.parent_span_id == job.span_id
    of_upload = [span for span in traces.spans if span.trace_id == request.trace_id]
    [embedding] = [span for span in of_upload if span.name.startswith("embeddings ")]
    assert embedding.name == "embeddings carrel-embed"
    assert embedding.parent_span_id == job.span_id
    assert _attributes(embedding)["gen_ai.operation.name"] == "embeddings"
    assert _attributes(embedding)["gen_ai.request.model"] == "carrel-embed"
    [recognition] = traces.named("recognition")
    [scan] = [span for span in traces.named("reading") if span.span_id != reading.span_id]
    assert recognition.parent_span_id == scan.span_id
    for span in (request, job, reading, embedding):
        assert _attributes(span)["carrel.request_id"] == "upload-of-the-test"
    for model in traces.named("chat spoken"):
        assert _attributes(model)["gen_ai.operation.name"] == "chat"
        [asked] = [span for span in traces.spans if span.span_id == model.parent_span_id]
        assert asked.name == "POST /v1/chat/completions"
        assert _attributes(model)["gen_ai.usage.output_tokens"] > 0
    assert traces.resources[0]["service.name"] == "carrel"
    # What people wrote or uploaded is in no span.
    assert "hello there" not in str(traces.spans)
    assert "heron.md" not in str(traces.spans)


def test_a_step_of_reading_that_fails_costs_only_its_page_and_is_counted(watched: Watched) -> None:
    server, _, address = watched
    # The second page is named, but absent.
    broken = raw_pdf(b"BT /F1 24 Tf 20 200 Td (Heron) Tj ET", kids=b"3 0 R 99 0 R")
    url = f"data:application/pdf;base64,{base64.b64encode(broken).decode()}"
    document = {"type": "document_url", "document_url": url}
    with connect(server) as http:
        for wanted in ([0, 1], [1, 0]):
            asked = {"model": None, "document": document, "pages": wanted}
            [page, absent] = sorted(
                http.post("/v1/ocr", json=asked).json()["pages"], key=lambda page: page["index"]
            )
            assert (page["markdown"], absent["markdown"]) == ("# Heron", "")
    assert _scrape(address)["carrel_reading_steps_failed_total", "page"] >= 1
    log = (server.data / "log" / "server.log").read_text()
    assert log.count("a step of reading failed and was left out: page") == 1


def test_lines_of_a_job_carry_the_id_of_its_request(watched: Watched) -> None:
    server, _, _ = watched
    with connect(server) as http:
        library = new_library(http)
        headers = {"x-request-id": "bad-document.7"}
        files = {"file": ("broken.pdf", b"%PDF-1.7 broken")}
        sent = http.post(f"{library.path}/documents", files=files, headers=headers)
        assert library.finished(sent.json()["id"])["process_status"] == "error"
    text = (server.data / "log" / "server.log").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    [asked, failed] = [line for line in lines if line["request_id"] == "bad-document.7"]
    assert asked["status"] == 200
    assert f"document …{sent.json()['id'][-4:]} was not processed" in failed["message"]


def test_a_database_that_is_gone_leaves_the_other_metrics(tmp_path: Path) -> None:
    [port] = free_ports(1)
    with serve(tmp_path / "data", "--metrics", f"127.0.0.1:{port}") as server:
        assert _scrape(f"http://127.0.0.1:{port}/metrics")["carrel_up", "database"] == 1
        taken = _carrel("serve", "--data", str(tmp_path / "b"), "--metrics", f"127.0.0.1:{port}")
        assert taken.returncode == 1
        assert "another process has it. Choose another." in taken.stderr
        assert server.process.poll() is None
    wrong = _carrel("serve", "--data", str(tmp_path / "b"), "--metrics", "here")
    assert (wrong.returncode, "no such HOST:PORT" in wrong.stderr) == (1, True)


def _carrel(*arguments: str, without: str = "") -> subprocess.CompletedProcess[str]:
    code = "import sys; sys.modules.update(dict.fromkeys(sys.argv[1].split(), None));"
    code += "from carrel.cli.main import main; main(sys.argv[2:])"
    command = [sys.executable, "-c", code, without, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("option", "package"),
    [
        (("--metrics", "127.0.0.1:0"), "prometheus_client"),
        (("--traces", "http://127.0.0.1:1"), "opentelemetry.sdk"),
    ],
)
def test_a_missing_extra_is_named(option: tuple[str, str], package: str, tmp_path: Path) -> None:
    ended = _carrel("serve", "--data", str(tmp_path / "data"), *option, without=package)
    assert ended.returncode == 1
    assert f"pip install 'carrel[server,{option[0][2:]}]'" in ended.stderr


def test_a_server_without_them_loads_neither() -> None:
    code = "import carrel.server.serve, sys; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(ended.stdout.split())
    assert "carrel.server.spans" in loaded
    assert not loaded & {
        "prometheus_client",
        "opentelemetry.sdk",
        "carrel.server.monitoring.traces",
    }


def test_a_collector_that_is_away_disturbs_nothing(tmp_path: Path) -> None:
    options = ("--traces", "http://127.0.0.1:9")
    with serve(tmp_path / "data", *options) as server, connect(server) as http:
        for _ in range(20):
            assert http.get("/v1/files").status_code == 200
        server.process.terminate()
        assert server.process.wait(30) == 0
