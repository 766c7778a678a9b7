"""An explain job: what MindSpore wrote about a model's predictions and their explanations.

A job writes one file and begins to number its samples at 0. A folder with several files holds
several tries; only the newest, by the number in its name, is read, as in MindInsight: together
they would mix samples of different models under one number.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TypeVar

from benchyard.catalogue.mindspore.folder import SummaryFile, contents, explain_files, time_of
from benchyard.catalogue.mindspore.messages import (
    Explain,
    InferenceMessage,
    Metadata,
    Occlusion,
    Probabilities,
    Saliency,
    Score,
    explain_of,
)
from benchyard.catalogue.mindspore.records import Problems, RecordReader
from benchyard.core.errors import RecordError
from benchyard.core.files import opened
from benchyard.core.memory import memory_of
from benchyard.traces.protobuf import WireError

#: Below it, a label counts as not predicted. Source: ExplainLoader of MindInsight.
MIN_CONFIDENCE = 0.5
#: Of a job in memory; what its file has beyond it is not read.
MOST_BYTES = 64 * 2**20
#: Of a record. They hold paths and numbers: kilobytes.
_LONGEST_BYTES = 8 * 2**20
_TAIL_BYTES = 16
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model, and those who explain it, say of a label of a sample.

    Args:
        label: Its number.
        name: Of the label.
        confidence: Probability; None if it was not written.
        kind: ``TP``, ``FP`` or ``FN``; None where the truth or the confidence is not known.
        deviation: Standard deviation of the confidence.
        interval: 95 % interval of the confidence.
    """

    label: int
    name: str
    confidence: float | None
    kind: str | None
    deviation: float | None
    interval: tuple[float, float] | None
    saliency: tuple[Saliency, ...]
    occlusion: Occlusion | None


@dataclass(frozen=True, slots=True)
class Sample:
    """A picture, as the events tell of it.

    Args:
        image: Path relative to the job's folder.
        truth: Numbers of the labels that are true.
    """

    id: int
    image: str = ""
    truth: tuple[int, ...] = ()
    inference: InferenceMessage | None = None
    saliency: tuple[Saliency, ...] = ()
    occlusions: tuple[Occlusion, ...] = ()

    def predictions(self, labels: Sequence[str]) -> list[Prediction]:
        """Return what is said of each label: the true ones, the predicted, then those explained.

        Args:
            labels: Names, by number.
        """
        told = self.inference or InferenceMessage()
        maps: dict[int, list[Saliency]] = {}
        for one in self.saliency:
            maps.setdefault(one.label, []).append(one)
        occluded, true = {one.label: one for one in self.occlusions}, set(self.truth)
        stated = (*_stated(self.truth, told.truth), *_stated(told.predicted_labels, told.predicted))
        by_label = {one.label: one for one in stated}
        for one in (*self.saliency, *self.occlusions):
            by_label.setdefault(one.label, _Stated(one.label))
        return [
            Prediction(
                label,
                labels[label] if 0 <= label < len(labels) else str(label),
                one.confidence,
                _kind(label, one.confidence, true),
                one.deviation,
                one.interval,
                tuple(maps.get(label, ())),
                occluded.get(label),
            )
            for label, one in by_label.items()
        ]


def _kind(label: int, confidence: float | None, true: Collection[int]) -> str | None:
    if not true or confidence is None:
        return None
    if confidence < MIN_CONFIDENCE:
        return "FN"
    return "TP" if label in true else "FP"


@dataclass(frozen=True, slots=True)
class _Stated:
    """What is stated of a label."""

    label: int
    confidence: float | None = None
    deviation: float | None = None
    interval: tuple[float, float] | None = None


def _stated(labels: Sequence[int], told: Probabilities) -> Iterator[_Stated]:
    intervals = list(zip(told.low, told.high, strict=False))
    for place, label in enumerate(labels):
        yield _Stated(
            label, _at(told.means, place), _at(told.deviations, place), _at(intervals, place)
        )


def _at(values: Sequence[_T], place: int) -> _T | None:
    return values[place] if place < len(values) else None


@dataclass(frozen=True, slots=True)
class ExplainJob:
    """What a job wrote until it was read. It never changes; reading on makes a new one.

    Args:
        file: Name of the summary file.
        older: Names of the files of earlier tries, which are not read.
        updated_s: When the file last changed, in seconds since the epoch.
        metadata: The names of all events together.
        samples: By their number.
        scores: By explainer and metric.
        status: What the job said of itself: ``run`` or ``end``; empty if it said nothing.
        unfinished: Whether the file breaks off within a record.
        left_out: What of the file could not be read, and why: the first ones.
        more_left_out: How many more there are.
        stopped: Why nothing behind ``offset`` can be read; empty if there is no such reason.
        size_bytes: Memory that it takes, about.
        offset: Where to read on, in bytes.
        inode: Of the file.
        tail: The bytes before ``offset``, by which a replaced file is known.
    """

    folder: Path
    file: str
    older: tuple[str, ...]
    created_s: float
    updated_s: float
    inode: int
    metadata: Metadata = field(default_factory=Metadata)
    samples: Mapping[int, Sample] = field(default_factory=dict[int, Sample])
    scores: Mapping[tuple[str, str], Score] = field(default_factory=dict[tuple[str, str], Score])
    status: str = ""
    unfinished: bool = False
    left_out: tuple[str, ...] = ()
    more_left_out: int = 0
    stopped: str = ""
    size_bytes: int = 0
    offset: int = 0
    tail: bytes = b""

    @property
    def problems(self) -> tuple[str, ...]:
        """All that could not be read, a sentence each."""
        more = (f"{self.more_left_out:,} more like these",) if self.more_left_out else ()
        return (*self.left_out, *more, *((self.stopped,) if self.stopped else ()))

    @property
    def shown_samples(self) -> list[Sample]:
        """The samples with a picture, in the order of the file."""
        return [sample for sample in self.samples.values() if sample.image]

    @property
    def has_uncertainty(self) -> bool:
        """Whether confidences have standard deviations."""
        told = (sample.inference for sample in self.samples.values())
        return any(one and (one.truth.deviations or one.predicted.deviations) for one in told)


def read_job(folder: Path, before: ExplainJob | None = None) -> ExplainJob:
    """Read the newest job of a folder.

    Args:
        before: What an earlier call returned; only what the file has gained since is read.

    Raises:
        RecordError: If there is none, or its file cannot be opened.
    """
    try:
        files = explain_files(contents(folder).files)
        if not files:
            raise RecordError(f"{folder}: no explain job here; its summary file is gone")
        with opened(folder / files[-1].name) as stream:
            return _read(stream, _beginning(stream, folder, files, before))
    except OSError as error:
        raise RecordError(f"{folder}: the explain job cannot be read: {error}") from error


def _beginning(
    stream: IO[bytes], folder: Path, files: Sequence[SummaryFile], before: ExplainJob | None
) -> ExplainJob:
    status = os.fstat(stream.fileno())
    older = tuple(file.name for file in files[:-1])
    newest = files[-1]
    place = (folder, newest.name, older, float(newest.created_s), time_of(status), status.st_ino)
    if before is not None and (before.file, before.inode) == (newest.name, status.st_ino):
        stream.seek(before.offset - len(before.tail))
        if stream.read(len(before.tail)) == before.tail:
            return replace(before, older=older, updated_s=time_of(status))
    return ExplainJob(*place)


def _read(stream: IO[bytes], job: ExplainJob) -> ExplainJob:
    problems = Problems(job.left_out, job.more_left_out)
    reader = RecordReader(stream, job.offset, problems, _LONGEST_BYTES)
    draft = _Draft(job)
    for payload in reader:
        try:
            draft.add(explain_of(payload))
        except WireError as error:
            problems.add(f"before byte {reader.offset:,}: a record is no event: {error}")
        if draft.size_bytes > MOST_BYTES:
            reader.stopped = (
                f"byte {reader.offset:,}: what was read takes {MOST_BYTES:,} bytes of memory; "
                "more is not read"
            )
            break
    tail_from = max(0, reader.offset - _TAIL_BYTES)
    stream.seek(tail_from)
    return replace(
        draft.job(),
        unfinished=reader.unfinished,
        left_out=tuple(problems.told),
        more_left_out=problems.more,
        stopped=reader.stopped,
        offset=reader.offset,
        tail=stream.read(reader.offset - tail_from),
    )


class _Draft:
    """A job while events are added."""

    def __init__(self, job: ExplainJob) -> None:
        self._before = job
        self._touched: dict[int, _SampleDraft] = {}
        self._scores = dict(job.scores)
        known = job.metadata
        self._labels = dict.fromkeys(known.labels)
        self._explainers = dict.fromkeys(known.explainers)
        self._metrics = dict.fromkeys(known.metrics)
        self._status = job.status
        self.size_bytes = job.size_bytes

    def add(self, told: Explain | None) -> None:
        """Add what an event tells; None tells nothing."""
        if told is None:
            return
        self._status = told.status or self._status
        self._scores.update({(one.explainer, one.metric): one for one in told.scores})
        if (names := told.metadata) is not None:
            self._labels.update(dict.fromkeys(names.labels))
            self._explainers.update(dict.fromkeys(names.explainers))
            self._metrics.update(dict.fromkeys(names.metrics))
        about = (told.image, told.truth, told.inference, told.saliency, told.occlusions)
        if told.sample_id is not None and any(about):
            self._sample(told.sample_id).add(told)
        self.size_bytes += memory_of((told.metadata, told.scores, about))

    def _sample(self, number: int) -> "_SampleDraft":
        if number not in self._touched:
            self._touched[number] = _SampleDraft(self._before.samples.get(number, Sample(number)))
        return self._touched[number]

    def job(self) -> ExplainJob:
        """Return what the job is now."""
        touched = {number: draft.sample() for number, draft in self._touched.items()}
        return replace(
            self._before,
            metadata=Metadata(tuple(self._labels), tuple(self._explainers), tuple(self._metrics)),
            samples={**self._before.samples, **touched},
            scores=self._scores,
            status=self._status,
            size_bytes=self.size_bytes,
        )


class _SampleDraft:
    """A sample while events are added. The first truth and inference stay, as in MindInsight."""

    def __init__(self, before: Sample) -> None:
        self._before = before
        self._image, self._truth = before.image, before.truth
        self._inference = before.inference
        self._saliency = {(one.explainer, one.label): one for one in before.saliency}
        self._occlusions = {one.label: one for one in before.occlusions}

    def add(self, told: Explain) -> None:
        """Add what an event tells."""
        self._image = told.image or self._image
        self._truth = self._truth or told.truth
        self._inference = self._inference or told.inference
        self._saliency.update({(one.explainer, one.label): one for one in told.saliency})
        self._occlusions.update({one.label: one for one in told.occlusions})

    def sample(self) -> Sample:
        """Return what the sample is now."""
        return Sample(
            self._before.id,
            self._image,
            self._truth,
            self._inference,
            tuple(self._saliency.values()),
            tuple(self._occlusions.values()),
        )
