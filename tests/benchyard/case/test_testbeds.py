"""What a host is as a testbed, and whether that is what a case requires."""

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.testbeds import (
    NAME,
    TAGS,
    Testbed,
    refuse_unfit,
    this_testbed,
    unmet,
)
from benchyard.core.errors import InputError
from benchyard.core.model import Case, Requires

GIB = 2**30
BED = Testbed("vm1", "lab1", ("nvme", "quiet"), cores=8, memory_bytes=16 * GIB, docker=True)


@pytest.mark.parametrize(
    ("changes", "requires", "reasons"),
    [
        ({}, Requires(), []),
        ({}, Requires(tags=("nvme",)), []),
        ({}, Requires(hosts=("other", "lab1")), []),
        ({}, Requires(hosts=("vm1",)), []),
        ({}, Requires(cores=8, memory_bytes=16 * GIB, docker=True), []),
        ({}, Requires(tags=("nvme", "gpu")), ["it lacks the tag gpu"]),
        ({}, Requires(tags=("a", "b")), ["it lacks the tags a, b"]),
        ({}, Requires(hosts=("x", "y")), ["it is not x or y"]),
        ({}, Requires(cores=9), ["it has 8 of 9 cores"]),
        ({}, Requires(memory_bytes=32 * GIB), ["it has 16.00 of 32.00 GiB of memory"]),
        # A machine that is sold with 16 GiB has them.
        ({"memory_bytes": int(15.4 * GIB)}, Requires(memory_bytes=16 * GIB), []),
        ({"cores": None}, Requires(cores=1), ["it has an unknown number of 1 cores"]),
    ],
)
def test_whether_and_why_a_testbed_will_not_do(
    changes: dict[str, Any], requires: Requires, reasons: list[str]
) -> None:
    assert unmet(requires, replace(BED, **changes)) == reasons


def test_all_reasons_are_told_and_what_is_not_known_meets_nothing() -> None:
    demanding, unknown = Requires(("gpu",), ("x",), 2**60, 1000, docker=True), Testbed("somewhere")
    assert len(unmet(demanding, replace(BED, docker=False))) == len(unmet(demanding, unknown)) == 5
    assert unmet(Requires(), unknown) == []
    assert unmet(Requires(memory_bytes=16 * GIB), replace(BED, memory_bytes=14 * GIB))


def test_this_host_tells_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TAGS, " nvme,quiet,, ")
    monkeypatch.setenv(NAME, "lab1")
    here = this_testbed()
    assert here.tags == ("nvme", "quiet")
    assert here.name == "lab1"
    assert here.host == socket.gethostname().partition(".")[0]
    assert 1 <= (here.cores or 0) <= (os.cpu_count() or 1)
    assert (here.memory_bytes or 0) > 2**20
    assert here.docker is not None


def test_an_engine_that_does_not_answer_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    assert this_testbed().docker is False


def test_what_was_told_comes_back() -> None:
    assert Testbed.from_json(BED.to_json()) == BED


@pytest.mark.parametrize(
    "told",
    [{}, {"tags": "nvme", "cores": "8", "memory_bytes": None, "docker": "yes", "host": None}],
)
def test_what_cannot_be_understood_is_as_if_untold(told: dict[str, Any]) -> None:
    assert Testbed.from_json(told) == Testbed("")


def case(requires: Requires) -> Case:
    return Case(Path("/x"), "urn:x", "demanding", "", (), requires=requires)


def test_a_case_that_this_host_is_not_fit_for_is_refused_in_a_sentence() -> None:
    demanding = case(Requires(tags=("no-such-tag",), cores=1_000_000))
    with pytest.raises(InputError) as raised:
        refuse_unfit([case(Requires()), demanding, demanding])
    text = str(raised.value)
    assert "is not what 'demanding' requires: it lacks the tag no-such-tag; it has " in text
    assert "of 1000000 cores (and so for 1 more); execute it on a testbed that is" in text
    assert "\n" not in text


def test_who_requires_nothing_is_never_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchyard.case.testbeds.this_testbed", lambda: pytest.fail("looked"))
    refuse_unfit([case(Requires())])
