"""KROWN-style cases end to end: our own ones, and the samples with what their authors recorded."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchyard import cli
from benchyard.core.errors import ExitCode
from tests.resources._databases.conftest import QUICK

CASES = Path(__file__).parents[2] / "cases" / "krown"
SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "krown-samples"
RECORDED = "results/run_1/rmlmapper/out.nt"

#: What stands in for the images that cannot be had here.
IMAGES = {
    "MorphKGC": "benchyard-test/morph-kgc",
    "Oxigraph": "benchyard-test/oxigraph",
    "PostgreSQL": "benchyard-test/postgresql",
    "SDMRDFizer": "benchyard-test/sdm-rdfizer-krown",
}
NEEDS = ("docker", *(f"image:{image.rpartition('/')[2]}" for image in IMAGES.values()))

#: A term of a statement. Source: RDF 1.1 N-Quads, section 2, where white space is free.
_TERM = re.compile(r'<[^>]*>|_:[\w.-]*\w|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?|\.')

ours = sorted(path.parent.name for path in CASES.glob("*/metadata.json"))
samples = sorted(path.parent for path in SAMPLES.rglob("metadata.json"))
#: Samples that differ from another one in no more than their rows.
ALIKE = {"empty_0.0_percentage", "joins_relations_1-15_50.0", "raw_10_2_0"}


def copied(source: Path, target: Path, instead: dict[str, str] | None = None) -> Path:
    """Copy a case without its results, with the images that can be had here, its tables in memory.

    Args:
        instead: Class to the one that takes its place.
    """
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("results"))
    metadata = target / "metadata.json"
    document: dict[str, Any] = json.loads(metadata.read_text())
    for step in document["steps"]:
        step["resource"] = (instead or {}).get(step["resource"], step["resource"])
    used = {step["resource"] for step in document["steps"]}
    images = {
        name: {"image": image, **QUICK.get(name, {})}
        for name, image in IMAGES.items()
        if name in used
    }
    metadata.write_text(json.dumps({**document, "resources": images}))
    return target


def execute(case: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Execute one run, which must end well; return its record."""
    options = ["--direct", "--runs", "1", "--cooldown", "0"]
    code = cli.call(["run", str(case), "--root", str(case.parent), *options])
    said = capsys.readouterr()
    assert code == ExitCode.DONE, said.out + said.err
    return json.loads((case / "results" / "run_1" / "run.json").read_text())


def statements(file: Path) -> set[tuple[str, ...]]:
    """Return the statements of N-Triples or N-Quads, each as its terms."""
    lines = file.read_text().splitlines()
    return {tuple(_TERM.findall(line)) for line in lines if line.strip()}


@pytest.mark.requires(*NEEDS)
@pytest.mark.slow
@pytest.mark.parametrize("name", ours)
def test_our_cases_end_well(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = execute(copied(CASES / name, tmp_path / name), capsys)

    assert {step["outcome"] for step in record["steps"]} == {"completed"}
    for step in record["steps"]:
        # The work was done in containers, or by the client: it has an account of its own.
        used = step["attempts"][-1]["repetitions"][-1]["used"]
        assert any(used.values()), step["id"]


@pytest.mark.skipif(not samples, reason="the samples of KROWN are not beside the checkout")
@pytest.mark.requires(*NEEDS)
@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.long] if path.name in ALIKE else [])
        for path in samples
    ],
)
@pytest.mark.parametrize("engine", ["MorphKGC", pytest.param("SDMRDFizer", marks=pytest.mark.long)])
def test_engines_make_what_rmlmapper_made(
    engine: str, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They agree to the last statement; RMLMapper's N-Quads lack a blank, SDM-RDFizer's graphs."""
    case = copied(sample, tmp_path / "case", {"RMLMapper": engine})

    execute(case, capsys)

    made = statements(case / "results" / "run_1" / engine.lower() / "out.nt")
    recorded = statements(sample / RECORDED)
    if engine == "SDMRDFizer":
        recorded = {(*terms[:3], ".") for terms in recorded}
    assert made == recorded
