"""Events of explain jobs, decoded.

Source: mindinsight_summary.proto and mindinsight_xai.proto of MindInsight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchyard.traces import protobuf


@dataclass(frozen=True, slots=True)
class Probabilities:
    """What a model says of some labels, by place; an empty field was not written.

    Args:
        deviations: Standard deviations.
        low: Lower ends of the 95 % intervals.
        high: Upper ends of the 95 % intervals.
    """

    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class InferenceMessage:
    """What a model says of a sample.

    Args:
        truth: Of the labels that are true.
        predicted: Of the labels that it predicts.
    """

    predicted_labels: tuple[int, ...] = ()
    truth: Probabilities = Probabilities()
    predicted: Probabilities = Probabilities()


@dataclass(frozen=True, slots=True)
class Saliency:
    """A map of what mattered to a prediction.

    Args:
        explainer: The method.
        path: Of the picture, relative to the job's folder.
    """

    explainer: str
    label: int
    path: str


@dataclass(frozen=True, slots=True)
class OcclusionLayer:
    """What remains visible, and the probability of the label then.

    Args:
        boxes: x, y, width and height of each, in pixels.
    """

    confidence: float
    boxes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Occlusion:
    """A hierarchical occlusion: the parts of a picture that suffice for a label."""

    label: int
    mask: str
    layers: tuple[OcclusionLayer, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """How well a metric finds an explainer.

    Args:
        total: Over all labels; NaN where it is not defined.
        by_label: The same for each label, by its number.
    """

    metric: str
    explainer: str
    total: float
    by_label: tuple[float, ...]


class Metadata(NamedTuple):
    """Names: of labels by their number, of explainers, of metrics."""

    labels: tuple[str, ...] = ()
    explainers: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explain:
    """One event of an explain job; each tells a part.

    Args:
        sample_id: None if the event is about no sample.
        status: ``run`` or ``end``.
    """

    sample_id: int | None = None
    image: str = ""
    truth: tuple[int, ...] = ()
    inference: InferenceMessage | None = None
    saliency: tuple[Saliency, ...] = ()
    occlusions: tuple[Occlusion, ...] = ()
    scores: tuple[Score, ...] = ()
    metadata: Metadata | None = None
    status: str = ""


def explain_of(payload: bytes) -> Explain | None:
    """Return what an event tells of an explain job; None if it is another event.

    Raises:
        WireError: If it is no message.
    """
    for number, value in protobuf.fields(memoryview(payload)):
        if number == 6:
            return _explain(value)
    return None


def _sample_id(values: Sequence[protobuf.Value]) -> int | None:
    return next(reversed(protobuf.integers(values)), None)


def _boxes(values: Sequence[protobuf.Value]) -> tuple[tuple[int, ...], ...]:
    ends = protobuf.integers(values)
    return tuple(ends[place : place + 4] for place in range(0, len(ends), 4))


def _inference_of(labels: tuple[int, ...], *figures: tuple[float, ...]) -> InferenceMessage:
    return InferenceMessage(labels, Probabilities(*figures[:4]), Probabilities(*figures[4:]))


_TRUTH, _PREDICTED = (1, 4, 5, 6), (3, 7, 8, 9)
_inference = protobuf.message(
    _inference_of,
    (2, protobuf.integers),
    *((number, protobuf.floats) for number in _TRUTH + _PREDICTED),
)
_saliency = protobuf.message(
    Saliency, (1, protobuf.text), (2, protobuf.integer), (3, protobuf.text)
)
_layer = protobuf.message(OcclusionLayer, (1, protobuf.real), (2, _boxes))
_occlusion = protobuf.message(
    Occlusion, (1, protobuf.integer), (2, protobuf.text), (3, protobuf.each(_layer))
)
_score = protobuf.message(
    Score, (1, protobuf.text), (2, protobuf.text), (3, protobuf.real), (4, protobuf.floats)
)
_metadata = protobuf.message(
    Metadata, (1, protobuf.texts), (2, protobuf.texts), (3, protobuf.texts)
)
_explain = protobuf.message(
    Explain,
    *((1, _sample_id), (2, protobuf.text), (3, protobuf.integers), (4, protobuf.last(_inference))),
    *((5, protobuf.each(_saliency)), (9, protobuf.each(_occlusion)), (6, protobuf.each(_score))),
    *((7, protobuf.last(_metadata)), (8, protobuf.text)),
)
