"""Explain jobs as the API tells them: MindInsight's names, and where pictures are."""

import math
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.explain import listed, train_id
from benchyard.catalogue.mindspore.explain_job import MIN_CONFIDENCE, ExplainJob, Prediction, Sample
from benchyard.catalogue.mindspore.messages import Occlusion, Saliency, Score
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
    stored = struct.pack("<f", value)
    texts = (f"{value:.{digits}g}" for digits in range(6, 10))
    return next((float(text) for text in texts if _packed(text) == stored), value)


def _packed(text: str) -> bytes:
    try:
        return struct.pack("<f", float(text))
    except OverflowError:  # the text of the largest float, rounded up
        return b""


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
        told = {*sample.truth, *(sample.inference.predicted_labels if sample.inference else ())}
        samples.update(told)
        saliency.update(told.intersection(label for _, label in sample.saliency))
        occluded.update(told.intersection(sample.occlusions))
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
    entry_id: str, sample: Sample, labels: Sequence[str], explainer: str = ""
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


def _inference(entry_id: str, told: Prediction, explainer: str) -> JsonObject:
    maps = (one for one in told.saliency if one.path and explainer in ("", one.explainer))
    return {
        "label_id": told.label,
        "label": told.name,
        "confidence": decimal(told.confidence),
        "prediction_type": told.kind,
        "confidence_sd": decimal(told.deviation),
        "confidence_itl95": [decimal(end) for end in told.interval] if told.interval else None,
        "saliency_maps": [_map(entry_id, one) for one in maps],
        "hoc_layers": _layers(told.occlusion),
    }


def _map(entry_id: str, told: Saliency) -> Json:
    return {"explainer": told.explainer, "overlay": image_address(entry_id, told.path)}


def _layers(told: Occlusion | None) -> list[Json]:
    layers = told.layers if told else ()
    return [
        {"confidence": decimal(one.confidence), "boxes": [list(box) for box in one.boxes]}
        for one in layers
    ]


def scores_document(job: ExplainJob) -> JsonObject:
    """Return how well each metric finds each explainer, over all labels and for each."""
    by_explainer: dict[str, list[Score]] = {}
    for score in job.scores.values():
        by_explainer.setdefault(score.explainer, []).append(score)
    return {
        "explainer_scores": [
            {
                "explainer": explainer,
                "evaluations": [
                    {"metric": one.metric, "score": decimal(one.total)} for one in scores
                ],
                "class_scores": list(_by_label(job, scores)),
            }
            for explainer, scores in by_explainer.items()
        ]
    }


def _by_label(job: ExplainJob, scores: list[Score]) -> Iterable[Json]:
    labels = job.metadata.labels
    for number in range(max(len(one.by_label) for one in scores)):
        yield {
            "label": labels[number] if number < len(labels) else str(number),
            "evaluations": [
                {"metric": one.metric, "score": decimal(one.by_label[number])}
                for one in scores
                if number < len(one.by_label)
            ],
        }
