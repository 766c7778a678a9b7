"""Which values count, and the quality of a host."""

from dataclasses import replace
from typing import Any

from benchyard.results.trust import HostQuality, causes, host_quality


def test_reasons_that_differ_in_numbers_are_told_once() -> None:
    assert causes(["waited 1.5 s", "swapped", "waited 2,000 s"]) == ["waited 1.5 s", "swapped"]


def test_the_quality_of_a_host_is_the_worst_that_the_record_knows(make: Any) -> None:
    def quality(*suspect: str, status: str = "ok", **facts: Any) -> HostQuality:
        record = make.run(1, make.took(1.0, suspect=suspect))
        preflight = ({"check": "load average", "status": status},)
        return host_quality(replace(record, preflight=preflight, **facts))

    assert quality() is HostQuality.QUIET
    assert quality(status="unknown") is HostQuality.QUIET
    assert quality(status="warn") is HostQuality.NOISY
    assert quality(collector={"notes": ["a sample came late"]}) is HostQuality.NOISY
    assert quality("steal", status="warn") is HostQuality.SUSPECT
