"""What cases see of the engines."""

from pathlib import Path
from shutil import copytree

import pytest

import resources
from benchyard.case.loading import find_metadata, load_all
from benchyard.case.resource import commands_of


def test_defect_46_commands_are_those_of_krown_alone() -> None:
    mapping, both = {"execute_mapping"}, {"execute", "execute_mapping"}
    wanted = {
        "RMLMapper": both,
        "RMLMapperJar": both,
        "RMLStreamer": both,
        "MorphKGC": both,
        "MorphRDB": both,
        "OntopMaterialize": mapping,
        "OntopVirtualize": mapping,
        "SDMRDFizer": both,
        "Souffle": both,
        "YARRRML": {"transform_mapping"},
        "Fuseki": {"load"},
        "Virtuoso": {"load", "load_parallel"},
    }
    classes = resources.find().classes
    assert {name: set(commands_of(classes[name])) for name in wanted} == wanted
    assert not any("Engine" in name or "Folder" in name for name in classes)


SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "krown-samples"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of KROWN are not here")
@pytest.mark.parametrize(
    "engine",
    [
        *("RMLMapper", "RMLMapperJar", "RMLStreamer", "MorphKGC", "MorphRDB"),
        *("OntopMaterialize", "SDMRDFizer", "Souffle"),
    ],
)
def test_the_cases_of_krown_are_valid_with_every_engine(tmp_path: Path, engine: str) -> None:
    for number, file in enumerate(sorted(SAMPLES.rglob("metadata.json"))):
        folder = tmp_path / str(number)
        copytree(file.parent / "data", folder / "data")
        text = file.read_text().replace('"RMLMapper"', f'"{engine}"')
        (folder / "metadata.json").write_text(text)
    loaded = load_all(find_metadata(tmp_path), resources.find())
    assert len(loaded) == 6
    assert [problem for item in loaded for problem in item.problems] == []
