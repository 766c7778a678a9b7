"""Which values count, and the quality of a host."""

from dataclasses import replace
from typing import Any

import pytest

from benchyard.results.trust import HostQuality, Suspect, causes, counts_suspect, host_quality


@pytest.mark.parametrize(
    ("trusted", "suspect", "counted"), [(0, 6, True), (5, 1, True), (6, 1, False), (5, 0, False)]
)
def test_suspect_executions_count_where_fewer_than_six_are_trusted(
    make: Any, trusted: int, suspect: int, counted: bool
) -> None:
    steps = [make.took(1.0)] * trusted + [make.took(1.0, suspect=["steal"])] * suspect
    assert counts_suspect(steps, Suspect.AUTO) is counted
    assert counts_suspect(steps, Suspect.INCLUDE)
    assert not counts_suspect(steps, Suspect.LEAVE_OUT)


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
