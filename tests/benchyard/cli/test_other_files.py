"""Files of other tools, and packs, as sides of ``compare``, ``plot`` and ``report``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.cli.conftest import Cli

QUICK = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004)


def written(file: Path, document: object) -> Path:
    file.write_text(json.dumps(document))
    return file


def timed(file: Path, times: Sequence[float], *, failed: int = 0) -> Path:
    """Write what ``benchyard time -o NAME.json`` does."""
    executions: list[dict[str, Any]] = [
        {"wall_s": wall, "user_s": wall / 2, "exit_code": int(at < failed)}
        for at, wall in enumerate(times)
    ]
    commands = [{"name": "sort", "parameters": {"n": "2"}, "executions": executions}]
    head: dict[str, Any] = {"seed": 1, "rounds": len(times), "stopped": "", "warnings": []}
    return written(file, {**head, "commands": commands})


def hyperfine(file: Path, times: Sequence[float], *, singly: bool = True) -> Path:
    mean = sum(times) / len(times)
    result = {"command": "sort[n=2]", "mean": mean, "times": list(times) if singly else []}
    return written(file, {"results": [result]})


def test_executions_of_other_tools_are_compared_as_runs(tmp_path: Path, cli: Cli) -> None:
    one = timed(tmp_path / "old.json", QUICK)
    slow = [2 * value for value in QUICK]
    same, other_tool = timed(tmp_path / "b.json", slow), hyperfine(tmp_path / "c.json", slow)
    for file, code in ((same, 3), (other_tool, 0)):
        found = json.loads(cli("compare", "--json", one, file, code=code).out)
        [row] = [row for row in found["comparisons"] if row["step"] == "sort[n=2]"]
        assert row["words"] == "2 times slower"
    said = cli("compare", f"{one}@1-4", f"{one}@5-8", "--metric", "cpu_user_s").out
    assert "4/4" in said
    assert "apart" not in said.splitlines()[-2], "the file does not tell when"


def rounds(file: Path, times: Sequence[float]) -> Path:
    """Write what pytest-benchmark does with ``--benchmark-save-data``."""
    stats = {"data": list(times), "median": sorted(times)[len(times) // 2]}
    return written(file, {"benchmarks": [{"name": "sort", "stats": stats}]})


def test_rounds_of_one_process_do_not_tell_how_far_processes_differ(
    tmp_path: Path, cli: Cli
) -> None:
    old = rounds(tmp_path / "old.json", QUICK * 50)
    new = rounds(tmp_path / "new.json", [1.11 * one for one in QUICK * 50])
    said = cli("compare", old, new).out
    assert "cannot tell" in said
    assert "one process does not tell how far processes differ" in said
    assert "1 regression" in cli("compare", old, new, "--session-sd", "1%", code=3).out
    assert "one process does not tell" in cli("compare", old, new, "--in-turns").out
    found = json.loads(cli("compare", old, new, "--session-sd", "2%", "--json").out)
    [row] = found["comparisons"]
    low, high = row["ratio_interval"]
    assert low < 1, "it is as wide as processes differ, however many rounds there are"
    assert high > 1.2
    summed = rounds(tmp_path / "summed.json", QUICK[:1])
    assert "one process does not tell" in cli("compare", summed, new).out


def test_benchmarks_of_a_file_are_in_turns_only_where_the_tool_takes_turns(
    tmp_path: Path, cli: Cli
) -> None:
    slow = [2 * value for value in QUICK]
    both = [{"command": n, "mean": 1, "times": v} for n, v in (("a", QUICK), ("b", slow))]
    file = written(tmp_path / "hf.json", {"results": both})
    found = json.loads(cli("compare", f"{file}:*", "--json").out)
    assert found["cases"][0]["in_turns"] is False
    assert [row["paired"] for row in found["comparisons"]] == [False]
    assert "measured one after the other" in cli("compare", f"{file}:*").out
    took_turns = timed(tmp_path / "time.json", QUICK[:6])
    document = json.loads(took_turns.read_text())
    other = [{**one, "wall_s": 2 * one["wall_s"]} for one in document["commands"][0]["executions"]]
    document["commands"].append({"name": "other", "executions": other})
    said = cli("compare", f"{written(took_turns, document)}:*").out
    assert "measured in turns" in said
    assert "2 times slower" in said, "six executions suffice, as for benchyard time"


def test_values_of_one_process_of_pyperf_are_one_value(tmp_path: Path, cli: Cli) -> None:
    runs = [{"values": [one, 1.1 * one, 0.9 * one]} for one in QUICK]
    old, new, single = (
        written(tmp_path / name, {"benchmarks": [{"metadata": {"name": "x"}, "runs": made}]})
        for name, made in (("a.json", runs), ("b.json", runs[::-1]), ("c.json", runs[:1]))
    )
    assert "8/8" in cli("compare", old, new).out
    assert "one process does not tell" in cli("compare", old, single).out


def test_steps_with_parameters_are_paired_and_bencher_has_times(tmp_path: Path, cli: Cli) -> None:
    one = timed(tmp_path / "old.json", QUICK)
    assert (
        "8/8"
        in cli(
            "compare", one, hyperfine(tmp_path / "b.json", QUICK), "--pair", "sort[n=2]=sort[n=2]"
        ).out
    )
    file = written(tmp_path / "c.json", {"sort": {"latency": {"value": 1e9}}})
    assert (
        "1 and 1 runs cannot tell"
        in cli(
            "compare", file, written(tmp_path / "d.json", {"sort": {"latency": {"value": 2e9}}})
        ).out
    )


def test_statistics_alone_are_one_value(tmp_path: Path, cli: Cli) -> None:
    file = hyperfine(tmp_path / "a.json", QUICK, singly=False)
    out = cli("compare", file, timed(tmp_path / "b.json", QUICK)).out
    assert "1 and 8 runs cannot tell" in out


def test_where_executions_failed_all_times_are_suspect(tmp_path: Path, cli: Cli) -> None:
    files = [timed(tmp_path / f"{n}.json", QUICK, failed=n) for n in (0, 2)]
    assert "2 of 8 executions failed" in cli("compare", *files).out


def test_files_are_drawn_and_reported(tmp_path: Path, cli: Cli) -> None:
    file = timed(tmp_path / "old.json", QUICK)
    picture, report = tmp_path / "x.svg", tmp_path / "x.html"
    cli("plot", file, "-o", picture)
    assert "sort" in picture.read_text()
    cli("report", file, "-o", report)
    cli("plot", report, "-o", tmp_path / "y.svg")
    assert "0 regressions" in cli("compare", file, report).out


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({}, "no file of results that can be read here"),
        ({"results": [{"command": "x", "mean": "y"}]}, "another shape"),
        ({"sort": {"throughput": {"value": 1}}}, "tells no times"),
    ],
)
def test_a_file_that_cannot_be_a_side_is_wrong_input(
    tmp_path: Path, cli: Cli, document: object, why: str
) -> None:
    file = written(tmp_path / "a.json", document)
    assert why in cli("compare", file, file, code=2).err
    assert why in cli("plot", file, code=2).err
