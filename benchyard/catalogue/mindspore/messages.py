"""Events of explain jobs, decoded.

Source: mindinsight_summary.proto and mindinsight_xai.proto of MindInsight.
"""

import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from benchyard.traces.protobuf import WireError, fields, packed, signed

_T = TypeVar("_T")
_Value = int | memoryview
#: Returns what all values of one field mean together.
_Reader = Callable[[Sequence[_Value]], Any]


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
    for number, value in fields(memoryview(payload)):
        if number == 6:
            return _explain(value)
    return None


# -- readers of fields; of a field that is not repeated the last value counts


def _text(values: Sequence[_Value]) -> str:
    return _texts(values[-1:])[0] if values else ""


def _texts(values: Sequence[_Value]) -> tuple[str, ...]:
    if any(isinstance(value, int) for value in values):
        raise WireError("a number where a text should be")
    return tuple(str(value, "utf-8", "replace") for value in values if not isinstance(value, int))


def _integers(values: Sequence[_Value]) -> tuple[int, ...]:
    return tuple(signed(number) for value in values for number in packed(value))


def _integer(values: Sequence[_Value]) -> int | None:
    return next(reversed(_integers(values)), None)


def _floats(values: Sequence[_Value]) -> tuple[float, ...]:
    return tuple(number for value in values for number in _unpacked(value))


def _unpacked(value: _Value) -> Iterator[float]:
    if isinstance(value, int) or len(value) % 4:
        raise WireError("what should be 32-bit floats is none")
    for (number,) in struct.iter_unpack("<f", value):
        yield number


def _float(values: Sequence[_Value]) -> float:
    return next(reversed(_floats(values)), 0.0)


def _label(values: Sequence[_Value]) -> int:
    return _integer(values) or 0


def _boxes(values: Sequence[_Value]) -> tuple[tuple[int, ...], ...]:
    ends = _integers(values)
    return tuple(ends[place : place + 4] for place in range(0, len(ends), 4))


def _each(decode: Callable[[_Value], _T]) -> Callable[[Sequence[_Value]], tuple[_T, ...]]:
    return lambda values: tuple(map(decode, values))


def _last(decode: Callable[[_Value], _T]) -> Callable[[Sequence[_Value]], _T | None]:
    return lambda values: decode(values[-1]) if values else None


# -- messages: what is made of the values of each field, by its number


def _message(make: Callable[..., _T], *parts: tuple[int, _Reader]) -> Callable[[_Value], _T]:
    def decode(value: _Value) -> _T:
        if isinstance(value, int):
            raise WireError("a number where a message should be")
        found = defaultdict[int, list[_Value]](list)
        for number, inner in fields(value):
            found[number].append(inner)
        return make(*(read(found[number]) for number, read in parts))

    return decode


def _inference_of(labels: tuple[int, ...], *figures: tuple[float, ...]) -> InferenceMessage:
    return InferenceMessage(labels, Probabilities(*figures[:4]), Probabilities(*figures[4:]))


_TRUTH, _PREDICTED = (1, 4, 5, 6), (3, 7, 8, 9)
_inference = _message(
    _inference_of, (2, _integers), *((number, _floats) for number in _TRUTH + _PREDICTED)
)
_saliency = _message(Saliency, (1, _text), (2, _label), (3, _text))
_layer = _message(OcclusionLayer, (1, _float), (2, _boxes))
_occlusion = _message(Occlusion, (1, _label), (2, _text), (3, _each(_layer)))
_score = _message(Score, (1, _text), (2, _text), (3, _float), (4, _floats))
_metadata = _message(Metadata, (1, _texts), (2, _texts), (3, _texts))
_explain = _message(
    Explain,
    *((1, _integer), (2, _text), (3, _integers), (4, _last(_inference))),
    *((5, _each(_saliency)), (9, _each(_occlusion)), (6, _each(_score))),
    *((7, _last(_metadata)), (8, _text)),
)
