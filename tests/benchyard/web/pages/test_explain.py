import math
import os
import struct
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient
from hypothesis import example, given
from hypothesis import strategies as st

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import EntryQuery
from benchyard.web.app import make_app
from benchyard.web.explain_documents import decimal, image_address
from benchyard.web.explorer import Explorer
from tests.benchyard.catalogue.mindspore.writing import METADATA, explain, sample, write_job

PICTURE = b"\x89PNG\r\n\x1a\n and so on"
SCORE = {
    "benchmark_method": "Localization",
    "explain_method": "Gradient",
    "total_score": 0.1,
    "label_score": [0.25, "NaN"],
}


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
        explain(benchmark=[SCORE]),
    )
    original = folder / "_explain_1700000000" / "original"
    original.mkdir(parents=True)
    (original / "0.png").write_bytes(PICTURE)
    return folder


@pytest.fixture
def client(job: Path) -> Any:
    return exploring(job.parent)


def exploring(folder: Path) -> Any:
    """Return what asks an explorer of a folder."""
    return TestClient(make_app(Explorer(Catalogue([folder]))))


@pytest.fixture
def address(client: Any) -> str:
    (only,) = client.get("/explain-jobs").json()["explain_jobs"]
    return f"/explain-jobs/{only['id']}"


def asked(client: Any, address: str, status: int = 200) -> Any:
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_the_list_is_paged(client: Any) -> None:
    told = asked(client, "/explain-jobs?offset=0&limit=1")
    assert (told["total"], told["limit"], told["explain_jobs"][0]["train_id"]) == (1, 1, "./job")
    assert asked(client, "/explain-jobs?offset=1")["explain_jobs"] == []


def test_a_job_tells_what_it_is_about(client: Any, address: str) -> None:
    told = asked(client, address)
    assert (told["sample_count"], told["saliency"]["min_confidence"]) == (3, 0.5)
    cat, dog = told["classes"]
    assert (cat["label"], cat["sample_count"], cat["saliency_sample_count"]) == ("cat", 2, 2)
    assert (dog["sample_count"], dog["saliency_sample_count"]) == (3, 0)
    assert told["problems"] == []


def test_the_page_has_json_beside_it(client: Any, address: str) -> None:
    page = address.replace("-jobs", "")
    assert asked(client, f"{page}.json") == asked(client, address)
    assert asked(client, f"{page}/samples.json?limit=1") == asked(
        client, f"{address}/samples?limit=1"
    )


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
    client: Any, address: str, query: str, ids: list[int]
) -> None:
    assert [one["id"] for one in asked(client, f"{address}/samples{query}")["samples"]] == ids


def test_a_sample_leads_to_its_pictures(client: Any, address: str) -> None:
    first = asked(client, f"{address}/samples")["samples"][0]
    answer = client.get(first["image"])
    assert (answer.content, answer.headers["content-type"]) == (PICTURE, "image/png")
    assert answer.headers["x-content-type-options"] == "nosniff"
    (of_cat,) = first["inferences"][0]["saliency_maps"]
    assert of_cat == {"explainer": "Gradient", "overlay": f"{address}/image/h/0.png"}
    told = asked(client, f"{address}/samples?method=GradCAM")["samples"][0]
    assert told["inferences"][0]["saliency_maps"] == []


def test_scores_keep_what_is_no_number(client: Any, address: str) -> None:
    (told,) = asked(client, f"{address}/scores")["explainer_scores"]
    assert told["evaluations"] == [{"metric": "Localization", "score": 0.1}]
    assert [one["evaluations"][0]["score"] for one in told["class_scores"]] == [0.25, "NaN"]
    table = client.get(address.replace("-jobs", "") + "/scores.csv").text.splitlines()
    assert table[1:] == [
        "Gradient,Localization,,0.1",
        "Gradient,Localization,cat,0.25",
        "Gradient,Localization,dog,NaN",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "..%2f..%2fsecret.png",
        "../../secret.png",
        "%2e%2e/secret.png",
        "link.png",
        "linked/secret.png",
        "a%00b",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "_explain_1700000000",
        "gone.png",
        "",
        "pipe",
    ],
)
def test_nothing_from_outside_is_sent(job: Path, client: Any, address: str, path: str) -> None:
    secret = job.parent / "secret.png"
    secret.write_bytes(PICTURE)
    (job / "link.png").symlink_to(secret)
    (job / "linked").symlink_to(job.parent)
    os.mkfifo(job / "pipe")
    answer = client.get(f"{address}/image/{path}")
    assert answer.status_code == 404
    assert PICTURE not in answer.content


@pytest.mark.parametrize(
    "content",
    [b"<html><script>alert(1)</script>", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b""],
)
def test_what_is_no_picture_becomes_a_download(
    job: Path, client: Any, address: str, content: bytes
) -> None:
    (job / "fake.png").write_bytes(content)
    answer = client.get(f"{address}/image/fake.png")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("query", ["sort=x", "kind=x", "limit=0", "offset=-1", "sort=uncertainty"])
def test_impossible_questions_are_refused(client: Any, address: str, query: str) -> None:
    assert "error" in asked(client, f"{address}/samples?{query}", 422)


def test_other_entries_are_no_explain_jobs(job: Path) -> None:
    (job / "a.summary.1").write_bytes(b"")
    found = Catalogue([job.parent]).page(EntryQuery(limit=None)).entries
    (other,) = [one.id for one in found if one.format == "mindspore-summary"]
    client = exploring(job.parent)
    assert "is no explain job" in asked(client, f"/explain-jobs/{other}", 404)["error"]
    assert client.get("/explain/0123456789abcdef").status_code == 404


def test_a_job_whose_file_is_gone_is_told(job: Path, client: Any, address: str) -> None:
    (job / "mindspore.summary.1700000000_explain").unlink()
    assert "its summary file is gone" in asked(client, address, 404)["error"]


def test_the_page_shows_samples_and_escapes_what_it_shows(job: Path) -> None:
    hostile = "<script>alert(1)</script>"
    names = {"label": [hostile], "explain_method": [hostile], "benchmark_method": [hostile]}
    write_job(
        job, explain(metadata=names), sample(0, image_path=f'"{hostile}'), number=1_700_000_001
    )
    (job / "_explain_1700000001").mkdir()
    (job / "_explain_1700000001" / "manifest.json").write_text("{")
    client = exploring(job.parent)
    listed = client.get("/explain")
    assert "manifest.json cannot be read" in listed.text
    (only,) = asked(client, "/explain-jobs")["explain_jobs"]
    page = client.get(f"/explain/{only['id']}")
    assert page.status_code == 200
    assert hostile not in page.text
    assert "&lt;script&gt;" in page.text
    assert "mindspore.summary.1700000000_explain" in page.text


def test_the_page_says_what_could_not_be_read(job: Path) -> None:
    file = job / "mindspore.summary.1700000000_explain"
    content = bytearray(file.read_bytes())
    content[30] ^= 1
    file.write_bytes(content[:-3])
    client = exploring(job.parent)
    (only,) = asked(client, "/explain-jobs")["explain_jobs"]
    page = client.get(f"/explain/{only['id']}").text
    assert "byte 0: the checksum of a record is wrong" in page
    assert "The last record of the file breaks off" in page


@given(st.floats(width=32))
@example(0.1)
@example(3.4028234663852886e38)
def test_a_decimal_means_the_same_float(value: float) -> None:
    told = decimal(value)
    if math.isfinite(value):
        assert isinstance(told, float)
        assert struct.pack("<f", told) == struct.pack("<f", value)
        assert len(repr(told)) <= len(repr(value))
    else:
        assert told == ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")


@pytest.mark.parametrize("path", ["../../../runs", "./x/../../../runs", "//evil.invalid/x"])
def test_an_address_of_a_picture_leads_nowhere_else(path: str) -> None:
    address = urljoin("http://here.invalid/explain/1", image_address("1", path))
    assert address.startswith("http://here.invalid/explain-jobs/1/image/")


def test_a_decimal_is_as_short_as_it_was_written() -> None:
    (stored,) = struct.unpack("<f", struct.pack("<f", 0.9))
    assert decimal(stored) == 0.9
