"""How long a case wants the host to rest: a number of seconds, or ``auto``."""

from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.case.test_loading import load_case


@pytest.mark.parametrize(
    ("written", "read"), [({}, None), ({"cooldown": "auto"}, None), ({"cooldown": 60}, 60.0)]
)
def test_a_case_may_leave_it_open(
    tmp_path: Path, written: dict[str, Any], read: float | None
) -> None:
    (case,) = load_case(tmp_path, **written).cases
    assert case.cooldown == read


def test_each_point_of_a_matrix_may_rest_otherwise(tmp_path: Path) -> None:
    loaded = load_case(tmp_path, cooldown="${matrix.rest}", matrix={"rest": [1, 4.5]})
    assert [case.cooldown for case in loaded.cases] == [1.0, 4.5]


@pytest.mark.parametrize("wrong", [-1, 1e6, True, None, "long", "15", [], "${matrix.none}"])
def test_what_is_no_cooldown_is_told(tmp_path: Path, wrong: Any) -> None:
    (problem,) = load_case(tmp_path, cooldown=wrong).problems
    assert str(problem.path) == "$.cooldown"
