"""Which samples of an explain job, and in what order."""

import math
from collections.abc import Sequence
from typing import Literal

from benchyard.catalogue.mindspore.explain_job import ExplainJob, Sample
from benchyard.core.errors import InputError

Kind = Literal["", "TP", "FP", "FN"]
#: Empty is the order of the file. Ascending goes by the least of a sample, descending by the most.
Sort = Literal["", "confidence", "-confidence", "uncertainty", "-uncertainty"]
#: Samples without the figure come last.
_LEAST, _MOST = float("-inf"), float("inf")


def select(job: ExplainJob, label: str = "", kind: Kind = "", sort: Sort = "") -> list[Sample]:
    """Return the samples with a picture that have a prediction as it is asked for.

    Args:
        label: Name; empty takes all.
        kind: Of the prediction of this label, or of any.

    Raises:
        InputError: If there is no uncertainty to sort by.
    """
    if sort.endswith("uncertainty") and not job.has_uncertainty:
        raise InputError("this job has no uncertainties to sort by")
    found = job.shown_samples
    if label or kind:
        labels = job.metadata.labels
        found = [sample for sample in found if _has(sample, labels, label, kind)]
    if sort:
        of = "deviations" if sort.endswith("uncertainty") else "means"
        if sort.startswith("-"):
            found.sort(key=lambda sample: max(_figures(sample, of), default=_LEAST), reverse=True)
        else:
            found.sort(key=lambda sample: min(_figures(sample, of), default=_MOST))
    return found


def _has(sample: Sample, labels: Sequence[str], label: str, kind: str) -> bool:
    return any(
        label in ("", one.name) and kind in ("", one.kind) for one in sample.predictions(labels)
    )


def _figures(sample: Sample, of: str) -> list[float]:
    told = sample.inference
    parts: tuple[Sequence[float], ...] = ()
    if told:
        parts = getattr(told.truth, of), getattr(told.predicted, of)
    return [one for part in parts for one in part if not math.isnan(one)]
