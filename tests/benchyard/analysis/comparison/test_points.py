"""The order of the points of a case."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchyard.analysis.comparison.run_sets import place_of


def ordered(folder: Path, points: list[dict[str, Any]]) -> list[Any]:
    def place(point: dict[str, Any]) -> tuple[object, ...]:
        return place_of({"point": point, "folder": str(folder)}, folder / "results" / str(point))

    return [[*point.values()] for point in sorted(points, key=place)]


def test_points_come_as_the_matrix_has_them(tmp_path: Path) -> None:
    matrix = {"v": ["v10", "v9"], "n": [10, 2]}
    (tmp_path / "metadata.json").write_text(json.dumps({"matrix": matrix}))
    points = [{"n": n, "v": v} for n in (2, 10) for v in ("v9", "v10")]
    assert ordered(tmp_path, points) == [[10, "v10"], [2, "v10"], [10, "v9"], [2, "v9"]]


@pytest.mark.parametrize("content", [None, "{}", "no JSON", '{"matrix": 3}'])
def test_without_a_matrix_numbers_go_by_size(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "metadata.json").write_text(content)
    assert ordered(tmp_path, [{"n": n} for n in (10, 2, "x", 1.5)]) == [[1.5], [2], [10], ["x"]]
