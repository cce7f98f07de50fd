"""Spans as OpenTelemetry traces, sent to a collector by OTLP over HTTP.

The standard variables set the rest: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS, OTEL_BSP_SCHEDULE_DELAY.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from carrel.server.spans import Span, current_request, observe_with

_KINDS = {
    "request": SpanKind.SERVER,
    "job": SpanKind.CONSUMER,
    "model": SpanKind.CLIENT,
    "embedding": SpanKind.CLIENT,
}
_FAILED = 500
"""Least status of a failure of the server; a refusal is the caller's."""
_LAST_SECONDS = 2
"""The time for sending the last spans at a stop; spans that need longer are lost."""


@contextmanager
def export_traces(endpoint: str, name: str) -> Iterator[None]:
    """Send spans to a collector while the context lasts, the last ones at its end.

    `endpoint` is its base address, `name` the name of this process.
    """
    attributes = {"service.version": version("carrel"), "service.instance.id": name}
    if "OTEL_SERVICE_NAME" not in os.environ:
        attributes["service.name"] = "carrel"
    provider = TracerProvider(resource=Resource.create(attributes))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        with observe_with(_Tracer(provider)):
            yield
    finally:
        # A collector that is away is tried again until then.
        patience = threading.Timer(_LAST_SECONDS, exporter.shutdown)
        patience.start()
        provider.shutdown()
        patience.cancel()


class _Tracer:
    """Makes an OpenTelemetry span of each span."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("carrel")
        self._words = TraceContextTextMapPropagator()

    def begin(self, span: Span, parent: str | None, inner: bool) -> None:
        """Begin a span below the present one, or below a remote one."""
        above = self._words.extract({"traceparent": parent}) if parent else None
        kind = _KINDS.get(span.name, SpanKind.INTERNAL)
        made = self._tracer.start_span(span.name, above, kind)
        token = context.attach(set_span_in_context(made)) if inner else None
        span.kept[self] = made, token

    def end(self, span: Span) -> None:
        """End a span with its final fields."""
        made, token = span.kept.pop(self)
        if token is not None:
            context.detach(token)
        if "route" in span.attributes:
            made.update_name(f"{span.attributes.get('method')} {span.attributes['route']}")
        if "operation" in span.attributes:
            made.update_name(f"{span.attributes['operation']} {span.attributes.get('model')}")
        made.set_attributes(
            {_NAMES.get(key, f"carrel.{key}"): value for key, value in span.attributes.items()}
        )
        made.set_attribute("carrel.request_id", current_request.get())
        status = span.attributes.get("status")
        if span.error or (isinstance(status, int) and status >= _FAILED):
            made.set_status(Status(StatusCode.ERROR, span.error))
        made.end()

    def trace_context(self) -> str:
        """Return the present span as a `traceparent`."""
        words: dict[str, str] = {}
        self._words.inject(words)
        return words.get("traceparent", "")


_NAMES = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "operation": "gen_ai.operation.name",
    "model": "gen_ai.request.model",
    "dimensions": "gen_ai.embeddings.dimension.count",
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
}
"""The semantic conventions' names of attributes; the others are our own."""
