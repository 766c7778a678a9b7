import math
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchyard.catalogue.mindspore import explain_job
from benchyard.catalogue.mindspore.explain_job import ExplainJob, memory_of, read_job
from benchyard.core.errors import RecordError
from tests.benchyard.catalogue.mindspore.writing import (
    METADATA,
    event,
    explain,
    record,
    records,
    sample,
    write_job,
)

SAMPLES = Path(__file__).resolve().parents[5] / "shared" / "samples" / "mindspore"


def job_of(folder: Path, *payloads: bytes) -> ExplainJob:
    write_job(folder, *payloads)
    return read_job(folder)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="needs the sample jobs")
def test_a_real_job_is_read() -> None:
    job = read_job(SAMPLES / "job3_partial")
    assert job.metadata.labels == ("cat", "dog")
    assert job.metadata.explainers == ("Gradient", "GradCAM")
    assert list(job.samples) == [0, 1]
    true, predicted = job.samples[1].predictions(job.metadata.labels)
    assert (true.name, true.kind, round(true.confidence or 0, 6)) == ("cat", "TP", 0.9)
    assert (predicted.name, predicted.kind) == ("dog", "FN")
    assert true.saliency[0].path == "h/1.jpg"
    assert true.occlusion is not None
    assert true.occlusion.layers[0].boxes == ((1, 2, 3, 4), (5, 6, 7, 8))
    assert job.problems == ()


def test_events_about_one_sample_add_up(tmp_path: Path) -> None:
    map_of = {"explain_method": "GradCAM", "label": 0, "heatmap_path": "h/late.png"}
    later = explain(sample_id=3, explanation=[map_of])
    layer = {"prob": 0.5, "box": [1, 2, 3, 4]}
    last = explain(sample_id=3, hoc=[{"label": 1, "layer": [layer]}])
    (one,) = job_of(tmp_path, METADATA, sample(3), later, last).samples.values()
    true, predicted = one.predictions(("cat", "dog"))
    assert [each.path for each in true.saliency] == ["h/3.png", "h/late.png"]
    assert predicted.occlusion is not None
    assert one.image == "_explain_1700000000/original/3.png"


def test_kinds_follow_truth_and_confidence(tmp_path: Path) -> None:
    unknown = {"predicted_label": [2], "predicted_prob": [0.75]}
    inference = unknown | {"ground_truth_prob": [0.5, 0.25]}
    job = job_of(
        tmp_path,
        sample(0, ground_truth_label=[0, 1], inference=inference),
        sample(1, ground_truth_label=[], inference=unknown, explanation=[]),
        sample(2, inference=unknown),
    )
    kinds = [[each.kind for each in one.predictions(())] for one in job.samples.values()]
    assert kinds == [["TP", "FN", "FP"], [None], [None, "FP"]]


def test_labels_are_told_with_their_figures_even_if_they_are_only_explained(tmp_path: Path) -> None:
    inference = {
        "ground_truth_prob": [0.5],
        "ground_truth_prob_sd": [0.125],
        "ground_truth_prob_itl95_low": [0.25],
        "ground_truth_prob_itl95_hi": [0.75],
    }
    maps = [{"explain_method": "Gradient", "label": 1, "heatmap_path": "h"}]
    told = sample(-1, ground_truth_label=[-7], inference=inference, explanation=maps)
    job = job_of(tmp_path, METADATA, told)
    hostile, explained = job.samples[-1].predictions(job.metadata.labels)
    assert (hostile.name, hostile.deviation, hostile.interval) == ("-7", 0.125, (0.25, 0.75))
    assert job.has_uncertainty
    assert (explained.name, explained.confidence, explained.kind) == ("dog", None, None)
    assert explained.saliency[0].path == "h"


def test_scores_keep_what_is_not_a_number(tmp_path: Path) -> None:
    methods = {"benchmark_method": "Localization", "explain_method": "Gradient"}
    score = {**methods, "total_score": "NaN", "label_score": [0.5, "NaN"]}
    job = job_of(tmp_path, METADATA, explain(benchmark=[score]))
    told = job.scores["Gradient", "Localization"]
    assert [told.total, *told.by_label] == pytest.approx([math.nan, 0.5, math.nan], nan_ok=True)


def test_a_version_first_and_names_last_are_no_matter(tmp_path: Path) -> None:
    job = job_of(tmp_path, event(version="Mindspore.Event:1"), sample(0), METADATA)
    assert [each.name for each in job.samples[0].predictions(job.metadata.labels)] == ["cat", "dog"]
    assert job.problems == ()


def test_events_without_a_sample_make_none(tmp_path: Path) -> None:
    job = job_of(tmp_path, METADATA, explain(sample_id=0, status="end"))
    assert (job.samples, job.status) == ({}, "end")


def test_a_growing_file_is_read_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = records([METADATA, sample(0), sample(1)])
    path = write_job(tmp_path)
    path.write_bytes(whole[:-5])
    first = read_job(tmp_path)
    assert (list(first.samples), first.unfinished) == ([0], True)
    decode = Mock(side_effect=explain_job.explain_of)
    monkeypatch.setattr(explain_job, "explain_of", decode)
    path.write_bytes(whole)
    second = read_job(tmp_path, first)
    assert (list(second.samples), second.unfinished) == ([0, 1], False)
    decode.assert_called_once_with(sample(1))
    assert list(first.samples) == [0]


@pytest.mark.parametrize("in_place", [True, False])
def test_a_replaced_file_is_read_anew(tmp_path: Path, in_place: bool) -> None:
    path = write_job(tmp_path, METADATA, sample(0))
    first = read_job(tmp_path)
    if not in_place:
        (tmp_path / "beside").write_bytes(b"")
        path.unlink()
    path.write_bytes(records([METADATA, sample(5), sample(6), sample(7)]))
    assert list(read_job(tmp_path, first).samples) == [5, 6, 7]


def test_a_newer_file_by_its_number_not_its_name_replaces_the_older(tmp_path: Path) -> None:
    write_job(tmp_path, METADATA, sample(0), number=999)
    first = read_job(tmp_path)
    write_job(tmp_path, METADATA, sample(9), number=1000)
    assert list(read_job(tmp_path, first).samples) == [9]


def test_damage_is_told_once_however_often_it_is_read(tmp_path: Path) -> None:
    path = write_job(tmp_path, METADATA, sample(0))
    wrong = bytearray(record(sample(1)))
    wrong[20] ^= 1
    no_event = record(b"\xff\xff\xff")
    with path.open("ab") as stream:
        stream.write(bytes(wrong) + no_event + record(sample(2)) + bytes(20))
    job = read_job(tmp_path)
    assert list(job.samples) == [0, 2]
    assert len(job.problems) == 3
    assert read_job(tmp_path, read_job(tmp_path, job)).problems == job.problems


def test_too_many_samples_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain_job, "MOST_BYTES", 20_000)
    job = job_of(tmp_path, METADATA, *map(sample, range(200)))
    assert 0 < len(job.samples) < 200
    assert "more is not read" in job.stopped
    again = read_job(tmp_path, job)
    assert len(again.samples) <= len(job.samples) + 1


def test_the_size_is_about_what_it_takes(tmp_path: Path) -> None:
    job = job_of(tmp_path, METADATA, *map(sample, range(200)))
    assert memory_of([text := "x" * 10_000, text, {"again": (text,)}]) < memory_of([text]) + 1_000
    assert memory_of(job.samples) * 0.8 < job.size_bytes < memory_of(job.samples) * 2


@pytest.mark.parametrize("what", ["empty", "link", "pipe", "gone"])
def test_a_folder_without_a_job_is_refused(tmp_path: Path, what: str) -> None:
    name = tmp_path / "a.summary.1_explain"
    if what == "link":
        name.symlink_to(write_job(tmp_path / "other", METADATA))
    elif what == "pipe":
        os.mkfifo(name)
    folder, why = tmp_path, "no explain job here"
    if what == "gone":
        folder, why = tmp_path / "gone", "cannot be read"
    with pytest.raises(RecordError, match=why):
        read_job(folder)
