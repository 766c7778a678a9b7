"""What a case may require of its testbed: read, checked all at once, filled from the matrix."""

from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Requires
from tests.benchyard.case.test_loading import load_case


def problems(tmp_path: Path, requires: Any) -> list[str]:
    found = load_case(tmp_path, requires=requires).problems
    return [f"{problem.path}: {problem.message}" for problem in found]


def test_everything_that_can_be_required(tmp_path: Path) -> None:
    requires = {"tags": ["nvme", "quiet"], "hosts": ["lab1"], "memory": "16GiB", "cores": 8.0}
    (case,) = load_case(tmp_path, requires={**requires, "docker": True}).cases
    assert case.requires == Requires(("nvme", "quiet"), ("lab1",), 2**34, 8, docker=True)
    assert isinstance(case.requires.cores, int)


@pytest.mark.parametrize("requires", [{}, {"docker": False}, {"tags": []}])
def test_who_requires_nothing_takes_any_testbed(tmp_path: Path, requires: Any) -> None:
    (case,) = load_case(tmp_path, requires=requires).cases
    assert case.requires == Requires()


def test_each_point_of_a_matrix_may_require_something_else(tmp_path: Path) -> None:
    requires = {"memory": "${matrix.scale}GiB", "cores": "${matrix.scale}"}
    loaded = load_case(tmp_path, requires=requires, matrix={"scale": [1, 4]})
    assert [case.requires for case in loaded.cases] == [
        Requires(memory_bytes=2**30, cores=1),
        Requires(memory_bytes=2**32, cores=4),
    ]


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        ({"cores": -1}, "$.requires.cores: must be at least 1, not -1"),
        ({"cores": 0}, "$.requires.cores: must be at least 1, not 0"),
        ({"memory": -1}, "$.requires.memory: must be at least 1, not -1"),
        ({"memory": "lots"}, "$.requires.memory: 'lots' is no size; write it like"),
        ({"memory": "900PiB"}, "$.requires.memory: 900PiB is more than any host has"),
        ({"memory": True}, "$.requires.memory: must be an integer or a string"),
        ({"core": 8}, "$.requires.core: is unknown here; did you mean 'cores'?"),
        ({"hosts": []}, "$.requires.hosts: needs at least 1 element"),
        ({"docker": "yes"}, "$.requires.docker: "),
        ({"tags": "nvme"}, "$.requires.tags: must be an array, not a string"),
        ({"tags": ["a,b"]}, "$.requires.tags[0]: 'a,b' can be no testbed's tag"),
        ([], "$.requires: must be an object, not an array"),
    ],
)
def test_what_nobody_could_meet_is_a_problem(tmp_path: Path, requires: Any, expected: str) -> None:
    (found,) = problems(tmp_path, requires)
    assert found.startswith(expected)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    assert len(problems(tmp_path, {"cores": 0, "memory": -1, "disks": 3})) == 3


def test_what_another_document_had_right_does_not_hide_what_this_one_has_wrong(
    tmp_path: Path,
) -> None:
    assert not problems(tmp_path, {"memory": "16GiB", "tags": ["a"]})
    assert problems(tmp_path, {"memory": "16GiX", "tags": ["a"]})
    assert problems(tmp_path, {"memory": "16GiB", "tags": ["a,"]})
