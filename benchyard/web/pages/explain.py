"""Explain jobs of MindSpore: as documents, and as a page with their pictures."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.explain import explain_jobs, train_id
from benchyard.catalogue.formats.mindspore import MindsporeExplain
from benchyard.catalogue.mindspore.explain_job import (
    ExplainJob,
    ExplainSample,
    Kind,
    Prediction,
    Sort,
    select,
)
from benchyard.core.errors import NotFoundError
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.core.table import LONG, MOMENT, NUMBER, TEXT, Cell, Field
from benchyard.core.wording import quote
from benchyard.web.explain_documents import (
    decimal,
    image_address,
    job_document,
    job_in_list,
    named_scores,
    sample_document,
    scores_document,
)
from benchyard.web.explorer import Current, keep_fresh
from benchyard.web.rendering import document_of, json_answer, render
from benchyard.web.run_tables import on_page
from benchyard.web.runs import send_image
from benchyard.web.tables import AskedPart, DataTable, add_table, pages_around, table_of

router = APIRouter()

_Offset = Annotated[int, Query(ge=0, le=2**31, description="Entries to skip.")]
_Limit = Annotated[int, Query(ge=1, le=1000)]
#: Rows of scores that a page shows.
_MOST_SCORES = 100
#: Labels of a sample that it shows.
_MOST_LABELS = 50
_KINDS = {"TP": "good", "FP": "bad", "FN": "doubtful"}
_SORTS_OF_ALL = {
    "": "as in the file",
    "-confidence": "most probable first",
    "confidence": "least probable first",
}
_SORTS = _SORTS_OF_ALL | {
    "-uncertainty": "most uncertain first",
    "uncertainty": "least uncertain first",
}


def _entry(explorer: Current, entry_id: str) -> Entry:
    entry = explorer.catalogue.entry(entry_id)
    if entry.format != MindsporeExplain.name:
        raise NotFoundError(f"{entry_id} is no explain job")
    return entry


_Found = Annotated[Entry, Depends(_entry)]


def _job(explorer: Current, entry: _Found) -> ExplainJob:
    return explorer.loaders.get(entry)


_Loaded = Annotated[ExplainJob, Depends(_job)]


class SampleFilter(BaseModel):
    """Which samples of a job, and in what order.

    Args:
        label: Name of a label that is true or predicted; empty takes all.
        method: The explainer whose maps are shown; empty shows all.
        kind: Of the prediction: ``TP``, ``FP`` or ``FN``.
    """

    label: str = ""
    method: str = ""
    kind: Kind = ""
    sort: Sort = ""
    offset: _Offset = 0
    limit: _Limit = 10

    def among(self, job: ExplainJob) -> tuple[int, Sequence[ExplainSample]]:
        """Return how many samples are meant, and those that are asked for."""
        chosen = select(job, self.label, self.kind, self.sort)
        return len(chosen), chosen[self.offset : self.offset + self.limit]

    def at(self, offset: int) -> str:
        """Return the part of the address that asks for the same from elsewhere."""
        place = {"offset": offset, "limit": self.limit}
        return "?" + urlencode(self.model_dump(exclude_defaults=True) | place)


_Asked = Annotated[SampleFilter, Query()]


@router.get(
    "/explain-jobs",
    summary="Explain jobs, those that changed last first",
    responses=document_of("total", "offset", "limit", "looking", "explain_jobs"),
)
def jobs(explorer: Current, offset: _Offset = 0, limit: _Limit = 10) -> Response:
    """Answer with a page of the list; ``offset`` counts jobs."""
    page = explain_jobs(explorer.catalogue, offset, limit)
    found: list[Json] = [job_in_list(entry) for entry in page.entries]
    place: dict[str, Json] = {"total": page.total, "offset": offset, "limit": limit}
    return json_answer({**place, "looking": explorer.looks_first, "explain_jobs": found})


@router.get("/explain/{entry_id}.json", include_in_schema=False)
@router.get("/explain-jobs/{entry_id}", summary="What an explain job is about")
def job(entry: _Found, loaded: _Loaded) -> Response:
    """Answer with names, counts and what could not be read."""
    return json_answer(job_document(entry, loaded))


@router.get("/explain/{entry_id}/samples.json", include_in_schema=False)
@router.get("/explain-jobs/{entry_id}/samples", summary="Samples of an explain job")
def samples(entry: _Found, loaded: _Loaded, asked: _Asked) -> Response:
    """Answer with samples: labels, probabilities, and where their pictures are."""
    total, shown = asked.among(loaded)
    found: list[Json] = [
        sample_document(entry.id, one, loaded.metadata.labels, asked.method) for one in shown
    ]
    place: dict[str, Json] = {"total": total, "offset": asked.offset, "limit": asked.limit}
    return json_answer({**place, "samples": found})


@router.get("/explain-jobs/{entry_id}/scores", summary="Scores of explainers")
def scores(loaded: _Loaded) -> Response:
    """Answer with the scores of each explainer; what is no number is the word ``NaN``."""
    return json_answer(scores_document(loaded))


@router.get("/explain-jobs/{entry_id}/image/{path:path}", summary="A picture of an explain job")
def image(request: Request, entry: _Found, path: str) -> Response:
    """Answer with a picture from inside the job's folder; what is none becomes a download."""
    keep_fresh(request)  # the catalogue does not watch pictures
    refused = NotFoundError(f"the job has no picture {quote(path)} that can be shown")
    return send_image(entry.place, path, refused)


def _has(key: str, head: str) -> Field:
    def known(entry: Entry) -> Cell:
        has = entry.parameters.get(key)
        return Cell(has, None if has is None else "yes" if has else "no")

    return key, head, TEXT, known


_JOBS: Sequence[Field] = (
    ("train_id", "Job", TEXT, lambda one: Cell(train_id(one), href=f"/explain/{one.id}")),
    ("update_time_s", "Changed (UTC)", MOMENT, lambda one: one.updated_s),
    ("create_time_s", "Created (UTC)", MOMENT, lambda one: one.created_s),
    _has("saliency_map", "Saliency maps"),
    _has("hierarchical_occlusion", "Occlusions"),
    ("explain_files", "Files", NUMBER, lambda one: one.counts.get("explain_files")),
    ("problem", "Problem", LONG, lambda one: Cell(one.broken or None, one.broken, mark="bad")),
)


def jobs_table(explorer: Current, part: AskedPart) -> DataTable:
    """Return a page of the list."""
    found = explain_jobs(explorer.catalogue, part.offset, part.limit)
    empty = "There are no explain jobs of MindSpore."
    table = table_of("explain", "Explain jobs", _JOBS, found.entries, "/explain", empty=empty)
    return part.told(table, found.total)


add_table(router, "/explain", jobs_table)


_SCORES: Sequence[Field] = (
    ("explainer", "Explainer", TEXT, lambda one: one[0].explainer),
    ("metric", "Metric", TEXT, lambda one: one[0].metric),
    ("label", "Label", TEXT, lambda one: Cell(one[1], one[1] or "all together")),
    ("score", "Score", NUMBER, lambda one: _figure(one[2])),
)


def scores_table(entry: _Found, loaded: _Loaded) -> DataTable:
    """Return the scores of explainers: over all labels, then for each."""
    labels = loaded.metadata.labels
    scored = [
        (told, label, score)
        for told in loaded.scores.values()
        for label, score in [(None, told.total), *named_scores(labels, told.by_label)]
    ]
    href, empty = f"/explain/{entry.id}/scores", "The job has no scores."
    return table_of("scores", "Scores of explainers", _SCORES, scored, href, empty=empty)


def _figure(value: float | None) -> Cell:
    number = decimal(value)
    return Cell(number, f"{value:.4f}" if isinstance(number, float) else None)


add_table(router, "/explain/{entry_id}/scores", scores_table)


@router.get("/explain/{entry_id}", include_in_schema=False)
def page(request: Request, entry: _Found, loaded: _Loaded, asked: _Asked) -> Response:
    """Show a job."""
    total, shown = asked.among(loaded)
    explainers = [asked.method] if asked.method else _explainers(loaded, shown)
    return render(
        request,
        "explain.html",
        title=f"Explain job {entry.title}",
        crumbs=[("Explain jobs", "/explain")],
        entry=entry,
        job=loaded,
        asked=asked,
        sorts=_SORTS if loaded.has_uncertainty else _SORTS_OF_ALL,
        cards=_cards(loaded),
        total=total,
        explainers=explainers,
        most_labels=_MOST_LABELS,
        samples=[_shown(entry, one, loaded, explainers) for one in shown],
        pages=pages_around(asked.offset, asked.limit, total, asked.at),
        scores=on_page(scores_table(entry, loaded), _MOST_SCORES),
    )


def _cards(job: ExplainJob) -> list[tuple[object, ...]]:
    ended = {"end": "ended", "run": "under way"}.get(job.status, "not told")
    return [
        ("Samples", f"{len(job.shown_samples):,}"),
        ("Labels", f"{len(job.metadata.labels):,}"),
        ("Explainers", len(job.metadata.explainers)),
        ("Metrics", len(job.metadata.metrics)),
        ("State", "being written" if job.unfinished else ended),
    ]


def _explainers(job: ExplainJob, shown: Sequence[ExplainSample]) -> list[str]:
    """Return the explainers of which there is a map, the announced ones first."""
    used = {explainer for sample in shown for explainer, _ in sample.saliency}
    announced = [name for name in job.metadata.explainers if name in used]
    return announced + sorted(used - set(announced))


def _shown(
    entry: Entry, sample: ExplainSample, job: ExplainJob, explainers: Sequence[str]
) -> dict[str, Any]:
    """Return a sample with its picture and its first labels, as the template shows them."""
    known = sample.predictions(job.metadata.labels)[:_MOST_LABELS]
    rows = [_row(entry, one, explainers) for one in known]
    return {"id": sample.id, "image": image_address(entry.id, sample.image), "rows": rows}


def _row(entry: Entry, label: Prediction, explainers: Sequence[str]) -> dict[str, Any]:
    paths = {one.explainer: image_address(entry.id, one.path) for one in label.saliency if one.path}
    layers = label.occlusion.layers if label.occlusion else ()
    spread = "" if label.deviation is None else f"± {label.deviation:.4f}"
    interval = " [{:.4f}, {:.4f}]".format(*label.interval) if label.interval else ""
    return {
        "label": label.name,
        "kind": label.kind or "",
        "mark": _KINDS.get(label.kind or "", "quiet"),
        "confidence": _figure(label.confidence).shown(),
        "deviation": f"{spread}{interval}",
        "maps": [paths.get(name) for name in explainers],
        "layers": [f"{one.confidence:.4f} with {plural(len(one.boxes), 'part')}" for one in layers],
    }
