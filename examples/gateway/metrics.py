"""What the gateway counts, for Prometheus.

Rules
 - One stream is counted once, when it is over, from its report; only `open` changes meanwhile.
 - Nothing that comes over the wire makes counting fail, or makes the series grow without end.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from trigate.tap import CallGate, TapReport

__all__ = ["Metrics"]

# Every model is a series that is kept for ever, and its name comes from outside.
_MAX_MODELS = 100
_MAX_NAME = 100
# So many tokens no response has; without a bound one wrong count would spoil the sum.
_MAX_TOKENS = 10**9
_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Metrics:
    """A registry of its own, so that several gateways fit in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._models: set[str] = set()
        self.open = Gauge("gateway_open_streams", "Streams under way", registry=self.registry)
        self.streams = Counter(
            "gateway_streams", "Streams that ended", ["protocol", "model", "status"], registry=self.registry
        )
        self.left = Counter(
            "gateway_clients_left", "Clients that went before the end", ["protocol"], registry=self.registry
        )
        self.events = Counter("gateway_events", "Events passed on", ["protocol"], registry=self.registry)
        self.bytes = Counter("gateway_bytes", "Bytes that came in", ["protocol"], registry=self.registry)
        self.tokens = Counter(
            "gateway_tokens",
            "Tokens as the provider counted them",
            ["model", "direction"],
            registry=self.registry,
        )
        self.calls = Counter(
            "gateway_calls", "Tool calls by their end", ["protocol", "state"], registry=self.registry
        )
        self.refused = Counter(
            "gateway_calls_refused", "Calls that did not pass", ["protocol"], registry=self.registry
        )
        self.first = Histogram(
            "gateway_first_content_seconds",
            "From the request to the first content",
            ["protocol"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.gap = Histogram(
            "gateway_longest_gap_seconds",
            "The longest pause between two contents of a stream",
            ["protocol"],
            buckets=_SECONDS,
            registry=self.registry,
        )

    def count(self, report: TapReport, client_left: bool = False) -> None:
        protocol, model = report.protocol, self._model(report.model)
        if client_left:
            self.left.labels(protocol).inc()
        self.streams.labels(protocol, model, report.status).inc()
        self.events.labels(protocol).inc(report.events)
        self.bytes.labels(protocol).inc(report.bytes)
        for call in report.calls:
            self.calls.labels(protocol, call.state).inc()
        if report.usage is not None:
            self.tokens.labels(model, "input").inc(_tokens(report.usage.input_tokens))
            self.tokens.labels(model, "output").inc(_tokens(report.usage.output_tokens))
        if report.first_content is not None:
            self.first.labels(protocol).observe(report.first_content)
        if report.largest_gap is not None:
            self.gap.labels(protocol).observe(report.largest_gap)

    def _model(self, name: str | None) -> str:
        """The label of a model: its name, or "unknown", or "other" for one too many and for what is no name."""
        if not name:
            return "unknown"
        if name not in self._models:
            if len(self._models) >= _MAX_MODELS or len(name) > _MAX_NAME or not name.isprintable():
                return "other"
            self._models.add(name)
        return name

    def count_refused(self, gate: CallGate) -> None:
        refused = sum(not decision.allowed for decision in gate.decisions)
        self.refused.labels(gate.report().protocol).inc(refused)


def _tokens(count: int | None) -> int:
    """What a counter can take of a count."""
    return min(max(count or 0, 0), _MAX_TOKENS)
