"""The metrics of a server, read by Prometheus's own parser."""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from harness.response import Response


class Metrics:
    """One answer: `families` by name, and samples by name and labels."""

    def __init__(self, response: Response):
        assert response.status == 200, f"{response.status}: {response.body!r}"
        assert response.get("content-type") == "text/plain; version=0.0.4; charset=utf-8"
        families: list[Metric] = list(text_string_to_metric_families(response.body.decode()))
        self.families = {family.name: family for family in families}
        assert len(self.families) == len(families), "a family came twice"
        self._samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float:
        """The value of a sample; its name is without `pronghorn_`."""
        return self._samples["pronghorn_" + name, frozenset(labels.items())]


def metrics_once(scrape: Callable[[], Response], reached: Callable[[Metrics], bool], within: float = 5.0) -> Metrics:
    """The first metrics for which `reached` holds: what a request counts may come a moment after its answer."""
    deadline = time.monotonic() + within
    while not reached(metrics := Metrics(scrape())):
        assert time.monotonic() < deadline, f"not reached within {within} s"
        time.sleep(0.01)
    return metrics
