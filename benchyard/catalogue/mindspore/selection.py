"""Which samples of an explain job, and in what order."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchyard.catalogue.mindspore.explain_job import ExplainJob, Prediction, Sample
from benchyard.core.errors import InputError

Kind = Literal["", "TP", "FP", "FN"]
#: Empty is the order of the file. Ascending goes by the least of a sample, descending by the most.
Sort = Literal["", "confidence", "-confidence", "uncertainty", "-uncertainty"]
#: Samples without the figure come last.
_LEAST, _MOST = float("-inf"), float("inf")


@dataclass(frozen=True, slots=True)
class Shown:
    """A sample, with what is said of its labels."""

    sample: Sample
    predictions: Sequence[Prediction]


def select(job: ExplainJob, label: str = "", kind: Kind = "", sort: Sort = "") -> list[Shown]:
    """Return the samples with a picture that have a prediction as it is asked for.

    Args:
        label: Name; empty takes all.
        kind: Of the prediction of this label, or of any.

    Raises:
        InputError: If there is no uncertainty to sort by.
    """
    if sort.endswith("uncertainty") and not job.has_uncertainty:
        raise InputError("this job has no uncertainties to sort by")
    labels = job.metadata.labels
    shown = [Shown(sample, sample.predictions(labels)) for sample in job.shown_samples]
    if label or kind:
        shown = [one for one in shown if _has(one, label, kind)]
    if sort:
        figure = _deviation if sort.endswith("uncertainty") else _confidence
        if sort.startswith("-"):
            shown.sort(key=lambda one: max(_known(one, figure), default=_LEAST), reverse=True)
        else:
            shown.sort(key=lambda one: min(_known(one, figure), default=_MOST))
    return shown


def _has(shown: Shown, label: str, kind: str) -> bool:
    return any(label in ("", one.name) and kind in ("", one.kind) for one in shown.predictions)


def _confidence(prediction: Prediction) -> float | None:
    return prediction.confidence


def _deviation(prediction: Prediction) -> float | None:
    return prediction.deviation


def _known(shown: Shown, figure: Callable[[Prediction], float | None]) -> list[float]:
    told = (figure(one) for one in shown.predictions)
    return [one for one in told if one is not None and not math.isnan(one)]
