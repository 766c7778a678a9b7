"""Explain jobs as the API tells them: MindInsight's names, and where pictures are."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

import numpy as np

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.explain import listed, train_id
from benchyard.catalogue.mindspore.explain_job import (
    MIN_CONFIDENCE,
    ExplainJob,
    ExplainSample,
    Prediction,
)
from benchyard.core.model import Json, JsonObject


def image_address(entry_id: str, path: str) -> str:
    """Return where a picture of a job is sent from."""
    # Browsers would follow "../" to another page; as one part of the address it is only refused.
    return f"/explain-jobs/{entry_id}/image/{quote(path, safe='' if './' in path else '/')}"


def decimal(value: float | None) -> Json:
    """Return a 32-bit float by the fewest digits that mean it; what is no number as a word."""
    if value is None:
        return None
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return float(str(np.float32(value)))


def job_in_list(entry: Entry) -> JsonObject:
    """Return what a list tells of a job."""
    told = listed(entry)
    name = told.pop("relative_path")
    times = {key: told.pop(key).isoformat() for key in ("create_time", "update_time")}
    return {"id": told.pop("id"), "train_id": name, **times, **told}


def job_document(entry: Entry, job: ExplainJob) -> JsonObject:
    """Return what a job is about, without its samples."""
    names = job.metadata
    return {
        "id": entry.id,
        "train_id": train_id(entry),
        "create_time": datetime.fromtimestamp(job.created_s, UTC).isoformat(),
        "update_time": datetime.fromtimestamp(job.updated_s, UTC).isoformat(),
        "sample_count": len(job.shown_samples),
        "classes": _classes(job),
        "saliency": {
            "min_confidence": MIN_CONFIDENCE,
            "explainers": list(names.explainers),
            "metrics": list(names.metrics),
        },
        "uncertainty": {"enabled": job.has_uncertainty},
        "status": job.status,
        "file": job.file,
        "older_files": list(job.older),
        "unfinished": job.unfinished,
        "problems": [*filter(None, [entry.broken]), *job.problems],
    }


def _classes(job: ExplainJob) -> list[Json]:
    samples, saliency, occluded = Counter[int](), Counter[int](), Counter[int]()
    for sample in job.shown_samples:
        predicted = sample.inference.predicted_labels if sample.inference else ()
        labels = {*sample.truth, *predicted}
        samples.update(labels)
        saliency.update(labels.intersection(label for _, label in sample.saliency))
        occluded.update(labels.intersection(sample.occlusions))
    return [
        {
            "id": number,
            "label": label,
            "sample_count": samples[number],
            "saliency_sample_count": saliency[number],
            "hoc_sample_count": occluded[number],
        }
        for number, label in enumerate(job.metadata.labels)
    ]


def sample_document(
    entry_id: str, sample: ExplainSample, labels: Sequence[str], explainer: str = ""
) -> JsonObject:
    """Return a sample.

    Args:
        labels: Names, by number.
        explainer: Whose maps to tell of; empty tells of all.
    """
    told = sample.predictions(labels)
    return {
        "id": sample.id,
        "image": image_address(entry_id, sample.image),
        "ground_truth_label": list(sample.truth),
        "inferences": [_inference(entry_id, one, explainer) for one in told],
    }


def _inference(entry_id: str, label: Prediction, explainer: str) -> JsonObject:
    maps = (one for one in label.saliency if one.path and explainer in ("", one.explainer))
    layers = label.occlusion.layers if label.occlusion else ()
    return {
        "label_id": label.label,
        "label": label.name,
        "confidence": decimal(label.confidence),
        "prediction_type": label.kind,
        "confidence_sd": decimal(label.deviation),
        "confidence_itl95": [decimal(end) for end in label.interval] if label.interval else None,
        "saliency_maps": [
            {"explainer": one.explainer, "overlay": image_address(entry_id, one.path)}
            for one in maps
        ],
        "hoc_layers": [
            {"confidence": decimal(one.confidence), "boxes": [list(box) for box in one.boxes]}
            for one in layers
        ],
    }


def scores_document(job: ExplainJob) -> JsonObject:
    """Return how well each metric finds each explainer, over all labels and for each."""
    names = dict.fromkeys(score.explainer for score in job.scores.values())
    return {"explainer_scores": [_explainer_scores(job, name) for name in names]}


def _explainer_scores(job: ExplainJob, explainer: str) -> JsonObject:
    evaluations, by_label = list[Json](), defaultdict[tuple[int, str], list[Json]](list)
    for one in job.scores.values():
        if one.explainer == explainer:
            evaluations.append({"metric": one.metric, "score": decimal(one.total)})
            for place, (label, score) in enumerate(named_scores(job.metadata.labels, one.by_label)):
                by_label[place, label].append({"metric": one.metric, "score": decimal(score)})
    class_scores: list[Json] = [
        {"label": label, "evaluations": scores} for (_, label), scores in by_label.items()
    ]
    return {"explainer": explainer, "evaluations": evaluations, "class_scores": class_scores}


def named_scores(labels: Sequence[str], scores: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Yield each score with the name of its label, or else its number."""
    for number, score in enumerate(scores):
        yield labels[number] if number < len(labels) else str(number), score
