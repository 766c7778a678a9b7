import math
import os
import struct
from pathlib import Path
from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import EntryQuery
from benchyard.web.explain_documents import decimal, image_address
from tests.benchyard.catalogue.mindspore.writing import METADATA, explain, sample, write_job
from tests.benchyard.web.site import Site

PICTURE = b"\x89PNG\r\n\x1a\n and so on"
SCORE = {"benchmark_method": "Localization", "explain_method": "Gradient", "total_score": 0.1}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "job"
    certain = {"ground_truth_prob": [0.9], "predicted_label": [1], "predicted_prob": [0.1]}
    write_job(
        folder,
        METADATA,
        sample(0),
        sample(1, inference=certain),
        sample(2, ground_truth_label=[1], inference={"ground_truth_prob": [0.8]}, explanation=[]),
        explain(benchmark=[{**SCORE, "label_score": [0.25, "NaN"]}]),
    )
    original = folder / "_explain_1700000000" / "original"
    original.mkdir(parents=True)
    (original / "0.png").write_bytes(PICTURE)
    return folder


@pytest.fixture
def site(job: Path) -> Site:
    return Site(job.parent)


@pytest.fixture
def address(site: Site) -> str:
    (only,) = site.json("/explain-jobs")["explain_jobs"]
    return f"/explain-jobs/{only['id']}"


def test_a_job_tells_what_it_is_about(site: Site, address: str) -> None:
    listed = site.json("/explain-jobs?offset=0&limit=1")
    assert (listed["total"], listed["explain_jobs"][0]["train_id"]) == (1, "./job")
    assert site.json("/explain-jobs?offset=1")["explain_jobs"] == []
    told = site.json(address)
    assert (told["sample_count"], told["saliency"]["min_confidence"]) == (3, 0.5)
    counts = [(one["sample_count"], one["saliency_sample_count"]) for one in told["classes"]]
    assert counts == [(2, 2), (3, 0)]
    assert told["classes"][0]["label"] == "cat"
    assert told["problems"] == []
    page = address.replace("-jobs", "")
    assert site.json(f"{page}.json") == told
    assert site.json(f"{page}/samples.json?limit=1") == site.json(f"{address}/samples?limit=1")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [0, 1, 2]),
        ("?offset=1&limit=1", [1]),
        ("?label=cat", [0, 1]),
        ("?kind=FN", [1]),
        ("?label=cat&kind=FN", []),
        ("?sort=-confidence", [1, 2, 0]),
        ("?sort=confidence", [1, 0, 2]),
        ("?label=nothing", []),
    ],
)
def test_samples_are_chosen_and_ordered(
    site: Site, address: str, query: str, ids: list[int]
) -> None:
    assert [one["id"] for one in site.json(f"{address}/samples{query}")["samples"]] == ids


def test_a_sample_leads_to_its_pictures(site: Site, address: str) -> None:
    first = site.json(f"{address}/samples")["samples"][0]
    answer = site.client.get(first["image"])
    assert (answer.content, answer.headers["content-type"]) == (PICTURE, "image/png")
    assert answer.headers["x-content-type-options"] == "nosniff"
    (of_cat,) = first["inferences"][0]["saliency_maps"]
    assert of_cat == {"explainer": "Gradient", "overlay": f"{address}/image/h/0.png"}
    told = site.json(f"{address}/samples?method=GradCAM")["samples"][0]
    assert told["inferences"][0]["saliency_maps"] == []


def test_scores_keep_what_is_no_number(site: Site, address: str) -> None:
    (told,) = site.json(f"{address}/scores")["explainer_scores"]
    assert told["evaluations"] == [{"metric": "Localization", "score": 0.1}]
    assert [one["evaluations"][0]["score"] for one in told["class_scores"]] == [0.25, "NaN"]
    rows = [f"Gradient,Localization,{row}" for row in (",0.1", "cat,0.25", "dog,NaN")]
    assert site.text(address.replace("-jobs", "") + "/scores.csv").splitlines()[1:] == rows


_OUTSIDE = [
    *("..%2f..%2fsecret.png", "../../secret.png", "%2e%2e/secret.png", "link.png", "a%00b"),
    *("linked/secret.png", "%2fetc%2fpasswd", "/etc/passwd", "_explain_1700000000", "gone.png"),
    *("", "pipe"),
]


@pytest.mark.parametrize("path", _OUTSIDE)
def test_nothing_from_outside_is_sent(job: Path, site: Site, address: str, path: str) -> None:
    secret = job.parent / "secret.png"
    secret.write_bytes(PICTURE)
    (job / "link.png").symlink_to(secret)
    (job / "linked").symlink_to(job.parent)
    os.mkfifo(job / "pipe")
    answer = site.client.get(f"{address}/image/{path}")
    assert answer.status_code == 404
    assert PICTURE not in answer.content


@pytest.mark.parametrize(
    "content",
    [b"<html><script>alert(1)</script>", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b""],
)
def test_what_is_no_picture_becomes_a_download(
    job: Path, site: Site, address: str, content: bytes
) -> None:
    (job / "fake.png").write_bytes(content)
    answer = site.client.get(f"{address}/image/fake.png")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("query", ["sort=x", "kind=x", "limit=0", "offset=-1", "sort=uncertainty"])
def test_impossible_questions_are_refused(site: Site, address: str, query: str) -> None:
    assert "error" in site.json(f"{address}/samples?{query}", 422)


def test_other_entries_are_no_explain_jobs(job: Path) -> None:
    (job / "a.summary.1").write_bytes(b"")
    found = Catalogue([job.parent]).page(EntryQuery(limit=None)).entries
    (other,) = [one.id for one in found if one.format == "mindspore-summary"]
    site = Site(job.parent)
    assert "is no explain job" in site.json(f"/explain-jobs/{other}", 404)["error"]
    assert site.client.get("/explain/0123456789abcdef").status_code == 404


def test_a_job_whose_file_is_gone_is_told(job: Path, site: Site, address: str) -> None:
    (job / "mindspore.summary.1700000000_explain").unlink()
    assert "its summary file is gone" in site.json(address, 404)["error"]


def test_the_page_shows_samples_and_escapes_what_it_shows(job: Path) -> None:
    hostile = "<script>alert(1)</script>"
    names = {"label": [hostile], "explain_method": [hostile], "benchmark_method": [hostile]}
    write_job(
        job, explain(metadata=names), sample(0, image_path=f'"{hostile}'), number=1_700_000_001
    )
    (job / "_explain_1700000001").mkdir()
    (job / "_explain_1700000001" / "manifest.json").write_text("{")
    site = Site(job.parent)
    assert "manifest.json cannot be read" in site.page("/explain")
    (only,) = site.json("/explain-jobs")["explain_jobs"]
    page = site.page(f"/explain/{only['id']}")
    assert hostile not in page
    assert "&lt;script&gt;" in page
    assert "mindspore.summary.1700000000_explain" in page


def test_the_page_says_what_could_not_be_read(job: Path) -> None:
    file = job / "mindspore.summary.1700000000_explain"
    content = bytearray(file.read_bytes())
    content[30] ^= 1
    file.write_bytes(content[:-3])
    site = Site(job.parent)
    (only,) = site.json("/explain-jobs")["explain_jobs"]
    page = site.page(f"/explain/{only['id']}")
    assert "byte 0: the checksum of a record is wrong" in page
    assert "The last record of the file breaks off" in page


def _significant_digits(value: float) -> int:
    return len(repr(value).partition("e")[0].replace(".", "").strip("-0"))


@given(st.floats(width=32))
@example(0.1)
@example(3.4028234663852886e38)
@example(999999995904.0)  # as 1e12, whose text is longer
def test_a_decimal_means_the_same_float(value: float) -> None:
    told = decimal(value)
    if math.isfinite(value):
        assert isinstance(told, float)
        assert struct.pack("<f", told) == struct.pack("<f", value)
        assert _significant_digits(told) <= _significant_digits(value)
    else:
        assert told == ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")


@pytest.mark.parametrize("path", ["../../../runs", "./x/../../../runs", "//evil.invalid/x"])
def test_an_address_of_a_picture_leads_nowhere_else(path: str) -> None:
    address = urljoin("http://here.invalid/explain/1", image_address("1", path))
    assert address.startswith("http://here.invalid/explain-jobs/1/image/")
