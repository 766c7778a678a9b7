"""The exit codes of what compares with a baseline, and when ``--strict`` does not pass."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchyard.results.record import RunRecord, StepRecord
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    failed,
    place,
    queries,
    run,
    runs,
    scaled,
    step,
    titled,
)
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process

QUICK = ("--direct", "--cooldown", "0", "--publish", "none")


def reporting(values: Sequence[float | None]) -> list[RunRecord]:
    """Make runs of a step that declares the metric ``thr``, and reports it unless it is None."""
    return [run(n, _reports(value)) for n, value in enumerate(values, 1)]


def _reports(value: float | None) -> StepRecord:
    declared = {"metrics": {"thr": {"json": "thr", "optional": True}}}
    return step(1.0, parameters=declared, values={} if value is None else {"thr": value})


TWO = queries({"load": BASE, "b": BASE})
FAILING = [run(n, failed("load")) for n in range(1, 9)]


#: Why nothing can be told of a metric, or of a step.
GONE = "thr of step Load is known in the baseline only"
GONE_STEP = "step B is measured in the baseline only"
FEW = "nothing can be told: 2 and 2 runs cannot tell at the 1 % level; 5 and 5 can"
ONE, SLOWER = runs(*BASE), scaled(2.0)
THR, NO_THR = reporting([5.0] * 8), reporting([None] * 8)


@pytest.mark.parametrize(
    ("one", "other", "options", "code", "why"),
    [
        pytest.param(ONE, ONE, (), 0, "", id="equal"),
        pytest.param(ONE, SLOWER, (), 3, "", id="slower"),
        pytest.param(SLOWER, ONE, (), 0, "", id="faster"),
        pytest.param(runs(1.0, 1.1), runs(1.0, 1.1), (), 5, FEW, id="too few runs"),
        pytest.param(ONE, FAILING, (), 3, "", id="always fails"),
        pytest.param(TWO, ONE, (), 5, GONE_STEP, id="a step is gone"),
        pytest.param(TWO, SLOWER, (), 3, "", id="slower, and a step is gone"),
        pytest.param(ONE, TWO, (), 0, "", id="a step is new"),
        pytest.param(TWO, ONE, ("--step", "b"), 5, GONE_STEP, id="the named step is gone"),
        pytest.param(TWO, ONE, ("--step", "load"), 0, "", id="another step is gone"),
        pytest.param(ONE, TWO, ("--step", "b"), 5, "no step b has values", id="named step is new"),
        pytest.param(THR, NO_THR, ("--metric", "thr"), 5, GONE, id="the named metric is gone"),
        pytest.param(THR, NO_THR, (), 5, GONE, id="a declared metric is gone"),
        pytest.param(NO_THR, THR, ("--metric", "thr"), 5, "not known there", id="metric is new"),
        pytest.param(NO_THR, THR, (), 0, "", id="a metric is new"),
    ],
)
def test_strict_passes_what_is_judged_and_nothing_else(
    tmp_path: Path,
    cli: Cli,
    one: list[RunRecord],
    other: list[RunRecord],
    options: tuple[str, ...],
    code: int,
    why: str,
) -> None:
    sides = (place(tmp_path / "old", one), place(tmp_path / "new", other))
    xml = tmp_path / "c.xml"

    said = cli("compare", *sides, "--strict", *options, "--junit", xml, code=code)

    assert why in said.err
    assert ("cannot tell: " in said.err) is (code == 5)
    root = ET.parse(xml).getroot()  # noqa: S314 - made here
    errors = [str(one.text) for one in root.iter("error")]
    assert root.get("errors") == str(len(errors))
    assert code == 3 or bool(errors) is (code == 5)
    assert all(why in text for text in errors)


def test_without_strict_what_is_gone_passes_as_ever(tmp_path: Path, cli: Cli) -> None:
    sides = (place(tmp_path / "old", TWO), place(tmp_path / "new", runs(*BASE)))
    xml = tmp_path / "c.xml"
    cli("compare", *sides, "--junit", xml)
    assert not list(ET.parse(xml).getroot().iter("error"))  # noqa: S314 - made here
    why = cli("compare", *sides, "--step", "b", code=2).err
    assert "nothing to compare: step B is measured in the baseline only" in why
    assert "no step is 'nope'" in cli("compare", *sides, "--step", "nope", "--strict", code=2).err


def test_a_case_that_is_gone_does_not_pass(tmp_path: Path, cli: Cli) -> None:
    for side, cases in (("old", ("words", "sums")), ("new", ("words",))):
        for case in cases:
            place(tmp_path / side / case / "results", runs(*BASE, **titled(case)))
    old, new = tmp_path / "old", tmp_path / "new"
    assert "cannot tell: sums is in" in cli("compare", old, new, "--strict", code=5).err
    cli("compare", new, old, "--strict")
    unjudged = json.loads(cli("compare", old, new, "--json").out)["unjudged"]
    assert [text.partition(" is in ")[0] for text in unjudged] == ["sums"]


def test_strict_needs_a_baseline_that_is_there(tmp_path: Path, cli: Cli) -> None:
    new = place(tmp_path / "new", runs(*BASE))
    assert "nowhere" in cli("compare", tmp_path / "nowhere", new, "--strict", code=2).err
    cli("run", tmp_path, "--strict", "--baseline", tmp_path / "nowhere", code=2)
    for command in ("run", "suite"):
        assert "--strict needs --baseline" in cli(command, "--strict", "--dry-run", code=2).err


@pytest.mark.slow
def test_a_run_against_a_baseline_of_too_few_runs(
    tmp_path: Path, cli: Cli, case_folder: MakeCase
) -> None:
    case, base, xml = case_folder("words", process("work", "true")), tmp_path / "b", tmp_path / "r"
    words = ("run", case, "--runs", 2, *QUICK)
    cli(*words)
    first = cli(*words, "--baseline", "previous", "--strict", "--junit", f"{xml}.xml", code=5)
    assert "cannot tell: nothing to compare with: it is the first campaign" in first.err
    [error] = ET.parse(f"{xml}.xml").getroot().iter("error")  # noqa: S314 - made here
    assert error.get("type") == "cannot tell"

    shutil.copytree(case / "results", base)
    few = cli(*words, "--new", "--baseline", base, "--strict", code=5)
    assert "cannot tell: words: nothing can be told: 2 and 2 runs cannot tell" in few.err
    cli(*words, "--baseline", base)


@pytest.mark.slow
def test_a_new_case_passes_where_others_are_judged(
    tmp_path: Path, cli: Cli, case_folder: MakeCase
) -> None:
    old, base = case_folder("old", process("work", "true")), tmp_path / "base"
    cli("run", old, *QUICK)
    shutil.copytree(old / "results", base)
    case_folder("new", process("work", "true"))
    options = ("--root", old.parent, *QUICK, "--baseline", base, "--strict")
    said = cli("run", *options, "--new")
    assert "the baseline has no runs of new" in said.err

    document = json.loads((old / "metadata.json").read_text())
    document["steps"][0]["@id"] = "other"
    (old / "metadata.json").write_text(json.dumps(document))
    said = cli("run", *options, code=5)
    assert "cannot tell: " in said.err
