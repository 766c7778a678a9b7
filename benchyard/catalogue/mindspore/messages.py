"""Events of explain jobs, decoded.

Source: mindinsight_summary.proto and mindinsight_xai.proto of MindInsight.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from benchyard.traces.protobuf import WireError, fields, packed, signed

_T = TypeVar("_T")
_Value = int | memoryview


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


@dataclass(frozen=True, slots=True)
class Metadata:
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


def _message(value: _Value) -> dict[int, list[_Value]]:
    if isinstance(value, int):
        raise WireError("a number where a message should be")
    found: dict[int, list[_Value]] = {}
    for number, inner in fields(value):
        if number in found:
            found[number].append(inner)
        else:
            found[number] = [inner]
    return found


def _explain(value: _Value) -> Explain:
    found = _message(value)
    samples = _integers(found.get(1, ()))
    return Explain(
        sample_id=samples[-1] if samples else None,
        image=_last(found, 2, _text, ""),
        truth=_integers(found.get(3, ())),
        inference=_last(found, 4, _inference, None),
        saliency=_each(found, 5, _saliency),
        scores=_each(found, 6, _score),
        metadata=_last(found, 7, _metadata, None),
        status=_last(found, 8, _text, ""),
        occlusions=_each(found, 9, _occlusion),
    )


def _inference(value: _Value) -> InferenceMessage:
    found = _message(value)

    def probabilities(*numbers: int) -> Probabilities:
        return Probabilities(*(_floats(found.get(number, ())) for number in numbers))

    return InferenceMessage(
        _integers(found.get(2, ())), probabilities(1, 4, 5, 6), probabilities(3, 7, 8, 9)
    )


def _saliency(value: _Value) -> Saliency:
    found = _message(value)
    return Saliency(_last(found, 1, _text, ""), _number(found, 2), _last(found, 3, _text, ""))


def _occlusion(value: _Value) -> Occlusion:
    found = _message(value)
    return Occlusion(_number(found, 1), _last(found, 2, _text, ""), _each(found, 3, _layer))


def _layer(value: _Value) -> OcclusionLayer:
    found = _message(value)
    ends = _integers(found.get(2, ()))
    boxes = tuple(ends[place : place + 4] for place in range(0, len(ends), 4))
    return OcclusionLayer(_float(found, 1), boxes)


def _score(value: _Value) -> Score:
    found = _message(value)
    names = (_last(found, 1, _text, ""), _last(found, 2, _text, ""))
    return Score(*names, _float(found, 3), _floats(found.get(4, ())))


def _metadata(value: _Value) -> Metadata:
    found = _message(value)
    return Metadata(*(_each(found, number, _text) for number in (1, 2, 3)))


def _each(
    found: Mapping[int, list[_Value]], number: int, decode: Callable[[_Value], _T]
) -> tuple[_T, ...]:
    return tuple(decode(value) for value in found.get(number, ()))


def _last(
    found: Mapping[int, list[_Value]], number: int, decode: Callable[[_Value], Any], missing: Any
) -> Any:
    values = found.get(number)
    return decode(values[-1]) if values else missing


def _text(value: _Value) -> str:
    if isinstance(value, int):
        raise WireError("a number where a text should be")
    return str(value, "utf-8", "replace")


def _integers(values: Iterable[_Value]) -> tuple[int, ...]:
    return tuple(signed(number) for value in values for number in packed(value))


def _number(found: Mapping[int, list[_Value]], number: int) -> int:
    numbers = _integers(found.get(number, ()))
    return numbers[-1] if numbers else 0


def _floats(values: Iterable[_Value]) -> tuple[float, ...]:
    return tuple(number for value in values for number in _unpacked(value))


def _unpacked(value: _Value) -> Iterator[float]:
    if isinstance(value, int) or len(value) % 4:
        raise WireError("what should be 32-bit floats is none")
    for (number,) in struct.iter_unpack("<f", value):
        yield number


def _float(found: Mapping[int, list[_Value]], number: int) -> float:
    numbers = _floats(found.get(number, ()))
    return numbers[-1] if numbers else 0.0
