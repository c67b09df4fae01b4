"""Figures for Prometheus. Labels are routes, methods and statuses: nothing that a caller can make grow."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """One registry a server, so that several can live in one process."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "streamcoref_requests", "Requests answered", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "streamcoref_request_seconds", "Time to the last byte", ["route"], buckets=SECONDS, registry=registry
        )
        self.words = Counter("streamcoref_words", "Words read in streams and texts", registry=registry)
        self.events = Counter("streamcoref_events", "Events of streams", registry=registry)
        self.saves = Counter("streamcoref_saves", "Streams saved", registry=registry)
        self.failed_saves = Counter("streamcoref_failed_saves", "Streams that could not be saved", registry=registry)
        self.slow_readers = Counter("streamcoref_slow_readers", "WebSockets closed for it", registry=registry)

    def watch(self, name: str, description: str, value: Callable[[], float]) -> None:
        """A figure that is looked at when somebody asks."""
        Gauge(f"streamcoref_{name}", description, registry=self._registry).set_function(value)

    def text(self) -> bytes:
        return generate_latest(self._registry)
