import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Candidate, FolderListing, listing_of
from benchyard.catalogue.formats.mindspore import MINDSPORE
from benchyard.catalogue.mindspore.summaries import summary_files
from tests.benchyard.catalogue.formats.samples import write
from tests.benchyard.catalogue.mindspore.writing import METADATA, event, records, write_job


def described(folder: Path) -> dict[str, Entry]:
    """What the formats find in a folder, by their names."""
    listing = listing_of(folder)
    found: dict[str, Entry] = {}
    for one in MINDSPORE:
        for path in one.detect(listing):
            entry = one.describe(Candidate("0" * 16, folder.parent, f"{folder.name}/{path}"))
            if entry is not None:
                found[one.name] = entry
    return found


def test_a_training_and_an_explain_job_may_share_a_folder(tmp_path: Path) -> None:
    write_job(tmp_path, METADATA, number=100)
    newest = write_job(tmp_path, METADATA, number=1000)
    for name in ("a.summary.20", "a.summary.30_lineage", "graph.pb", "memory_usage_1.pb"):
        write(tmp_path, name, b"")
    write(tmp_path, "profiler/profiler_info_0.json", b"")
    os.utime(newest, (5, 5))
    found = described(tmp_path)
    explain, summary = found["mindspore-explain"], found["mindspore-summary"]
    files = dict.fromkeys(("summary_files", "lineage_files", "graph_files", "profiles"), 1)
    assert explain.counts == summary.counts == {**files, "explain_files": 2}
    assert (explain.created_s, explain.updated_s) == (1000, 5)
    assert summary.created_s == 30


def test_links_do_not_count(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", METADATA)
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / job.name).symlink_to(job)
    assert described(folder) == {}


@pytest.mark.parametrize(
    ("name", "content", "is_one"),
    [
        ("model.pb", b"\n\x050.1.0\x12\tMindSpore", True),
        ("model.pb", b"x", False),
        ("profiler-7/cpu_op_type_info_0.csv", b"", True),
        ("profiler-7/x.txt", b"", False),
    ],
)
def test_a_graph_or_profiler_alone_must_be_of_mindspore(
    tmp_path: Path, name: str, content: bytes, is_one: bool
) -> None:
    write(tmp_path, name, content)
    assert ("mindspore-summary" in described(tmp_path)) == is_one


def with_manifest(folder: Path, content: str) -> Entry:
    write_job(folder, METADATA, number=7)
    write(folder, "_explain_7/manifest.json", content.encode("latin-1"))
    return described(folder)["mindspore-explain"]


def test_the_manifest_says_what_a_job_has(tmp_path: Path) -> None:
    entry = with_manifest(tmp_path, '{"saliency_map": false, "hierarchical_occlusion": true}')
    assert entry.parameters == {"saliency_map": False, "hierarchical_occlusion": True}
    assert entry.broken == ""


@pytest.mark.parametrize("content", ['{"saliency_map": tr', "[]", "[" * 100_000, "\xff"])
def test_a_broken_manifest_is_told_on_its_entry(tmp_path: Path, content: str) -> None:
    entry = with_manifest(tmp_path, content)
    assert entry.broken.startswith("_explain_7/manifest.json")
    assert entry.parameters == {"saliency_map": True, "hierarchical_occlusion": False}


def test_a_hidden_folder_keeps_its_name_and_its_manifest(tmp_path: Path) -> None:
    entry = with_manifest(tmp_path / "..job", '{"hierarchical_occlusion": true}')
    assert entry.parameters["hierarchical_occlusion"] is True
    assert entry.title == "..job"


def test_a_folder_that_went_away_is_no_entry(tmp_path: Path) -> None:
    assert not any(one.describe(Candidate("0" * 16, tmp_path, "gone")) for one in MINDSPORE)


def test_a_training_has_its_scalars(tmp_path: Path) -> None:
    def step(number: int, *values: dict[str, Any]) -> bytes:
        return event(step=number, summary={"value": list(values)})

    loss, image = {"tag": "loss", "scalar_value": 0.5}, {"tag": "input", "image": "eHh4"}
    events = [event(version="Mindspore.Event:1"), step(1, loss, image), b"\xff", step(2, loss)]
    write(tmp_path, "a.summary.1", records(events)[:-1])
    summary, _ = MINDSPORE
    training = summary.load(described(tmp_path)["mindspore-summary"])
    assert [(one.step, one.value) for one in training.scalars["loss"]] == [(1, 0.5)]
    assert training.others == {"images": 1}
    assert training.unfinished
    assert len(training.problems) == 1


def test_numbers_beyond_any_time_are_no_summaries() -> None:
    names = ["summary.9" + "9" * 30, "summary.253402300800", "summary.\u0661", "summary.7_explain"]
    assert [file.name for file in summary_files(names)] == ["summary.7_explain"]


@given(st.frozensets(st.text(max_size=30)), st.frozensets(st.text(max_size=30)))
def test_any_names_can_be_listed(files: frozenset[str], folders: frozenset[str]) -> None:
    for one in MINDSPORE:
        assert set(one.detect(FolderListing(Path("/"), files, folders))) <= {"."}
