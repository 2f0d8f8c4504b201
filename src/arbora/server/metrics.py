"""Figures for monitoring, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable

__all__ = ["Metrics"]

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_COUNTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)

# Counters and histograms, each with its help; histograms also with the bounds of their buckets.
_COUNTERS = {
    "arbora_requests_total": "Requests by path and status.",
    "arbora_refused_total": "Requests that were refused because of a limit, by reason.",
    "arbora_sentences_total": "Parsed sentences.",
    "arbora_words_total": "Parsed words.",
    "arbora_read_bytes_total": "Bytes of the bodies of requests.",
}
_HISTOGRAMS = {
    "arbora_request_seconds": ("Seconds from the head of a request to its answer.", _SECONDS),
    "arbora_work_seconds": ("Seconds that a batch was worked on.", _SECONDS),
    "arbora_batch_requests": ("Requests that were parsed together.", _COUNTS),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters, histograms and gauges; threads may change them at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, dict[Labels, float]] = {name: {} for name in _COUNTERS}
        self._buckets = {name: [0] * (len(two[1]) + 1) for name, two in _HISTOGRAMS.items()}
        self._sums = dict.fromkeys(_HISTOGRAMS, 0.0)
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def count(self, name: str, by: float = 1, **labels: str) -> None:
        """Adds to a counter."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            values = self._counters[name]
            values[key] = values.get(key, 0) + by

    def observe(self, name: str, value: float) -> None:
        """Adds a value to a histogram."""
        bounds = _HISTOGRAMS[name][1]
        with self._lock:
            self._buckets[name][bisect_left(bounds, value)] += 1
            self._sums[name] += value

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Declares a figure that is read when it is asked for."""
        self._gauges[name] = text, value

    def text(self) -> str:
        """All figures, in the text format of Prometheus."""
        lines: list[str] = []
        with self._lock:
            for name, values in self._counters.items():
                lines += _heading(name, _COUNTERS[name], "counter")
                for labels, value in sorted(values.items()):
                    lines.append(f"{name}{_labels(labels)} {value:g}")
            for name, (text, bounds) in _HISTOGRAMS.items():
                lines += _heading(name, text, "histogram")
                lines += self._histogram(name, bounds)
        for name, (text, read) in self._gauges.items():
            lines += [*_heading(name, text, "gauge"), f"{name} {read():g}"]
        return "\n".join([*lines, ""])

    def _histogram(self, name: str, bounds: tuple[float, ...]) -> list[str]:
        lines, total = [], 0
        for bound, count in zip([*bounds, float("inf")], self._buckets[name], strict=True):
            total += count
            edge = "+Inf" if bound == float("inf") else f"{bound:g}"
            lines.append(f'{name}_bucket{{le="{edge}"}} {total}')
        return [*lines, f"{name}_sum {self._sums[name]:.9g}", f"{name}_count {total}"]


def _heading(name: str, text: str, kind: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inside}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
