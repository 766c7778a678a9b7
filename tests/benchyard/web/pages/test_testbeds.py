from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Json
from benchyard.results.record import RunRecord
from benchyard.web import testbeds
from tests.benchyard.analysis.comparison.conftest import ENVIRONMENT, failed, place, run, step
from tests.benchyard.web.site import Site

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(number: int, environment: Mapping[str, Any], **more: Any) -> RunRecord:
    """Make the run of an hour."""
    began = (START + timedelta(hours=number)).isoformat()
    return run(
        number, step(1.0), environment={**ENVIRONMENT, **environment}, started_at=began, **more
    )


def kernel(version: str) -> dict[str, Json]:
    return {"kernel": version}


def test_hosts_are_listed_with_what_they_measured(tmp_path: Path) -> None:
    place(tmp_path / "a", [at(1, {}), at(2, {}), at(3, {"host": "bench2", "memory_bytes": 2**31})])
    broken = replace(run(1, failed(), environment=ENVIRONMENT), started_at=START.isoformat())
    place(tmp_path / "b", [broken])
    site = Site(tmp_path)
    one, other = site.json("/testbeds.json")
    assert (one["host"], one["runs"], one["cases"], one["failed"]) == ("bench1", 3, 2, 1)
    assert (one["first_s"], one["newest_s"]) == (START.timestamp(), START.timestamp() + 7200)
    assert (other["host"], other["runs"], other["memory_bytes"]) == ("bench2", 1, 2**31)
    assert 'href="/testbed/bench2"' in site.page("/testbeds")


def test_a_host_is_told_as_it_was_at_its_newest_run(tmp_path: Path) -> None:
    checks = [
        {"check": "swap", "status": "ok", "finding": "none", "advice": ""},
        {"check": "governor", "status": "warn", "finding": "powersave", "advice": "set it"},
    ]
    vendor = {"virtualization": {"hypervisor": True}}
    place(tmp_path / "a", [at(1, kernel("6.1")), at(2, vendor, preflight=tuple(checks))])
    site = Site(tmp_path)
    page = site.page("/testbed/bench1")
    assert "17.18 GB" in page
    facts = {one["fact"]: one["value"] for one in site.json("/testbed/bench1/facts.json")}
    assert (facts["kernel"], facts["virtualization.hypervisor"]) == ("Linux-6.12", True)
    found = site.json("/testbed/bench1/checks.json")
    assert [one["check"] for one in found] == ["governor", "swap"]
    [case] = site.json("/testbed/bench1/cases.json")
    assert (case["case"], case["runs"]) == ("tpch", 2)


def test_a_host_has_the_health_of_its_control_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    place(tmp_path / "a", [at(1, {}), at(2, {"host": "bench2"})])
    place(tmp_path / "home" / "control" / "bench1", [at(1, {})])
    site = Site(tmp_path / "a")
    page = site.page("/testbed/bench1")
    assert "Control case of bench1" in page
    assert "5 campaigns make a level: 0 so far before the newest" in page
    assert "Control case" not in site.page("/testbed/bench2")


def test_changes_are_found_to_the_run(tmp_path: Path) -> None:
    versions = ["6.1"] * 123 + ["6.6"] * 50 + ["6.12"] * 27
    place(tmp_path / "a", [at(n, kernel(v)) for n, v in enumerate(versions, 1)])
    site = Site(tmp_path)
    found = site.json("/testbed/bench1/changes.json")
    assert [(one["before"], one["after"], one["exact"]) for one in found] == [
        ("6.6", "6.12", True),
        ("6.1", "6.6", True),
    ]
    assert found[1]["last_s"] == (START + timedelta(hours=123)).timestamp()
    page = site.page("/testbed/bench1")
    assert "of 200 runs were read, at even distances and around changes" in page


def test_the_search_for_changes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbeds, "_MOST_READ", 6)
    monkeypatch.setattr(testbeds, "_SAMPLES", 4)
    place(tmp_path / "a", [at(n, kernel(str(n))) for n in range(1, 41)])
    site = Site(tmp_path)
    found = testbeds.FactHistory(site.catalogue, "bench1")
    assert found.read <= 8
    assert found.runs == 40
    assert not all(one.exact for one in found.changes)


def test_a_record_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    place(tmp_path / "a", [at(n, {}) for n in (1, 2, 3)])
    site = Site(tmp_path)
    (tmp_path / "a" / "run_3" / "run.json").write_text("{")
    assert "Linux-6.12" in site.page("/testbed/bench1")
    for number in (1, 2):
        (tmp_path / "a" / f"run_{number}" / "run.json").unlink()
    assert "Cases on bench1" in Site.page(site, "/testbed/bench1")
    assert site.client.get("/testbed/bench1/facts.json").status_code == 404


def test_two_hosts_are_held_against_each_other(tmp_path: Path) -> None:
    other = {"host": "bench2", "memory_bytes": 2**35, "disks": [{"model": "x"}]}
    place(tmp_path / "a", [at(1, {}), at(2, other)])
    site = Site(tmp_path)
    found = site.json("/testbeds/difference.json?a=bench1&b=bench2")
    assert [one["fact"] for one in found][:1] == ["memory size"]
    page = site.page("/testbeds/difference?a=bench1&b=bench2")
    assert "1 fact that can explain a difference of figures differs" in page
    assert "What else differs" in page
    same = site.page("/testbeds/difference?a=bench1&b=bench1")
    assert "0 facts that can explain a difference" in same
    assert "no run of the catalogue" not in same


@pytest.mark.parametrize("address", ["/testbed/x", "/testbeds/difference?a=x&b=bench1"])
def test_an_unknown_host_is_refused(tmp_path: Path, address: str) -> None:
    place(tmp_path / "a", [at(1, {})])
    site = Site(tmp_path)
    assert "&#39;x&#39;" in site.page(address, 404)
    assert site.client.get("/testbeds/difference?a=bench1").status_code == 422
