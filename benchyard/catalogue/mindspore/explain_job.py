"""An explain job: what MindSpore wrote about a model's predictions and their explanations.

A job writes one file and begins to number its samples at 0. A folder with several files holds
several tries; only the newest, by the number in its name, is read, as in MindInsight: together
they would mix samples of different models under one number.
"""

import gc
import math
import os
import sys
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, repeat, zip_longest
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import IO, Any, Literal, TypeAlias

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
from benchyard.catalogue.mindspore.summaries import LAST_SECOND, Progress, files_in, records
from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import opened
from benchyard.traces.protobuf import WireError

#: Below it, a label counts as not predicted. Source: ExplainLoader of MindInsight.
MIN_CONFIDENCE = 0.5
#: Of a job in memory; what its file has beyond it is not read.
MOST_BYTES = 64 * 2**20
#: Of a record. They hold paths and numbers: kilobytes.
_LONGEST_BYTES = 8 * 2**20
_TAIL_BYTES = 16
_Figures: TypeAlias = tuple[float | None, float | None, tuple[float, float] | None]
_NO_FIGURES: _Figures = (None, None, None)
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)


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


@dataclass(slots=True)
class ExplainSample:
    """A picture, as the events tell of it. A job that was read changes none of its samples.

    Args:
        image: Path relative to the job's folder.
        truth: Numbers of the labels that are true.
        saliency: By explainer and label.
        occlusions: By label.
    """

    id: int
    image: str = ""
    truth: tuple[int, ...] = ()
    inference: InferenceMessage | None = None
    saliency: dict[tuple[str, int], Saliency] = field(
        default_factory=dict[tuple[str, int], Saliency]
    )
    occlusions: dict[int, Occlusion] = field(default_factory=dict[int, Occlusion])

    def add(self, event: Explain) -> None:
        """Add what an event tells. The first truth and inference stay, as in MindInsight."""
        self.image = event.image or self.image
        self.truth = self.truth or event.truth
        self.inference = self.inference or event.inference
        self.saliency.update({(one.explainer, one.label): one for one in event.saliency})
        self.occlusions.update({one.label: one for one in event.occlusions})

    def predictions(self, labels: Sequence[str]) -> list[Prediction]:
        """Return what is said of each label: the true ones, the predicted, then those explained.

        Args:
            labels: Names, by number.
        """
        inference = self.inference or InferenceMessage()
        maps = defaultdict[int, list[Saliency]](list)
        for one in self.saliency.values():
            maps[one.label].append(one)
        figures = {
            **_figures(self.truth, inference.truth),
            **_figures(inference.predicted_labels, inference.predicted),
        }
        true = set(self.truth)
        return [
            Prediction(
                label,
                labels[label] if 0 <= label < len(labels) else str(label),
                confidence,
                _kind(label, confidence, true),
                deviation,
                interval,
                tuple(maps.get(label, ())),
                self.occlusions.get(label),
            )
            for label in dict.fromkeys((*figures, *maps, *self.occlusions))
            for confidence, deviation, interval in (figures.get(label, _NO_FIGURES),)
        ]


def _kind(label: int, confidence: float | None, true: Collection[int]) -> str | None:
    if not true or confidence is None:
        return None
    if confidence < MIN_CONFIDENCE:
        return "FN"
    return "TP" if label in true else "FP"


def _figures(labels: Sequence[int], known: Probabilities) -> dict[int, _Figures]:
    """Return confidence, its deviation and its interval of each label, as far as they are known."""
    intervals = zip(known.low, known.high, strict=False)
    each = zip_longest(known.means, known.deviations, intervals)
    figures = chain(each, repeat(_NO_FIGURES))
    return dict(zip(labels, figures, strict=False))


@dataclass
class ExplainJob(Progress):
    """What a job wrote until it was read. Reading on makes a new one; no other changes then.

    Args:
        file: Name of the summary file.
        older: Names of the files of earlier tries, which are not read.
        created_s: The number in the file's name, in seconds since the epoch.
        updated_s: When the file last changed, in seconds since the epoch.
        names: Of labels, explainers and metrics, in the order in which events have them.
        samples: By their number.
        scores: By explainer and metric.
        status: What the job said of itself: ``run`` or ``end``; empty if it said nothing.
        size_bytes: Memory that it takes, about.
        inode: Of the file.
        tail: The bytes before ``offset``, by which a replaced file is known.
    """

    file: str = ""
    older: tuple[str, ...] = ()
    created_s: float = 0.0
    updated_s: float = 0.0
    names: tuple[dict[str, None], ...] = field(default_factory=lambda: ({}, {}, {}))
    samples: dict[int, ExplainSample] = field(default_factory=dict[int, ExplainSample])
    scores: dict[tuple[str, str], Score] = field(default_factory=dict[tuple[str, str], Score])
    status: str = ""
    size_bytes: int = 0
    inode: int = 0
    tail: bytes = b""

    @cached_property
    def metadata(self) -> Metadata:
        """The names of all events together."""
        return Metadata(*map(tuple, self.names))

    @property
    def shown_samples(self) -> list[ExplainSample]:
        """The samples with a picture, in the order of the file."""
        return [sample for sample in self.samples.values() if sample.image]

    @property
    def has_uncertainty(self) -> bool:
        """Whether confidences have standard deviations."""
        told = (sample.inference for sample in self.samples.values())
        return any(one and (one.truth.deviations or one.predicted.deviations) for one in told)

    def copied(self) -> "ExplainJob":
        """Return a copy that can be read on; only its samples are still those of this job."""
        names = tuple(map(dict, self.names))
        copies = {"samples": dict(self.samples), "scores": dict(self.scores)}
        return replace(self, names=names, left_out=[*self.left_out], **copies)

    def add(self, event: Explain, own: set[int]) -> None:
        """Add what an event tells.

        Args:
            own: Numbers of the samples that belong to no other job; those that it makes are added.
        """
        self.status = event.status or self.status
        self.scores.update({(one.explainer, one.metric): one for one in event.scores})
        for told, names in zip(self.names, event.metadata or Metadata(), strict=True):
            told.update(dict.fromkeys(names))
        about = (event.image, event.truth, event.inference, event.saliency, event.occlusions)
        number = event.sample_id
        if number is not None and any(about):
            if number not in own:
                own.add(number)
                known = self.samples.get(number, ExplainSample(number))
                maps, occlusions = dict(known.saliency), dict(known.occlusions)
                self.samples[number] = replace(known, saliency=maps, occlusions=occlusions)
            self.samples[number].add(event)
        self.size_bytes += memory_of((event.metadata, event.scores, about))


def memory_of(value: Any) -> int:
    """Return the bytes of a value and of all that it refers to, each counted once.

    Classes, modules and functions do not count. It takes about as long as a copy would.
    """
    seen: set[int] = set()
    level = [value]
    total = 0
    while level:
        new = {id(one): one for one in level if id(one) not in seen}
        seen.update(new)
        counted = [one for one in new.values() if not isinstance(one, _SHARED)]
        total += sum(map(sys.getsizeof, counted))
        level = gc.get_referents(*counted)
    return total


def read_job(folder: Path, before: ExplainJob | None = None) -> ExplainJob:
    """Read the newest job of a folder.

    Args:
        before: What an earlier call returned; only what the file has gained since is read.

    Raises:
        RecordError: If there is none, or its file cannot be opened.
    """
    try:
        files = files_in(folder, "explain")
        if not files:
            raise RecordError(f"{folder}: no explain job here; its summary file is gone")
        *older, newest = files
        with opened(folder / newest.name) as stream:
            status = os.fstat(stream.fileno())
            is_same = before and (before.file, before.inode) == (newest.name, status.st_ino)
            if before is not None and is_same and _tail(stream, before) == before.tail:
                job = before.copied()
            else:
                job = ExplainJob(
                    file=newest.name, created_s=float(newest.created_s), inode=status.st_ino
                )
            job.older, job.updated_s = tuple(file.name for file in older), time_of(status)
            _read(stream, job)
            return job
    except OSError as error:
        raise RecordError(f"{folder}: the explain job cannot be read: {error}") from error


def _tail(stream: IO[bytes], job: ExplainJob) -> bytes:
    start = max(0, job.offset - _TAIL_BYTES)
    stream.seek(start)
    return stream.read(job.offset - start)


def _read(stream: IO[bytes], job: ExplainJob) -> None:
    own = set[int]()
    for payload in records(stream, job, _LONGEST_BYTES):
        try:
            if event := explain_of(payload):
                job.add(event, own)
        except WireError as error:
            job.leave_out(f"before byte {job.offset:,}: a record is no event: {error}")
        if job.size_bytes > MOST_BYTES:
            job.stop(f"what was read takes {MOST_BYTES:,} bytes of memory; more is not read")
            break
    job.tail = _tail(stream, job)


def time_of(status: os.stat_result) -> float:
    """Return when a file changed, or the nearest time that a calendar has."""
    return min(max(status.st_mtime, 0.0), float(LAST_SECOND))


# -- which samples, and in what order

Kind = Literal["", "TP", "FP", "FN"]
#: Empty is the order of the file. Ascending goes by the least of a sample, descending by the most.
Sort = Literal["", "confidence", "-confidence", "uncertainty", "-uncertainty"]
#: Samples without the figure come last.
_LEAST, _MOST = float("-inf"), float("inf")


def select(
    job: ExplainJob, label: str = "", kind: Kind = "", sort: Sort = ""
) -> list[ExplainSample]:
    """Return the samples with a picture that have a prediction as it is asked for.

    Args:
        label: Name; empty takes all.
        kind: Of the prediction of this label, or of any.

    Raises:
        InputError: If samples are to be sorted by an uncertainty that the job lacks.
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
            found.sort(key=lambda sample: max(_values(sample, of), default=_LEAST), reverse=True)
        else:
            found.sort(key=lambda sample: min(_values(sample, of), default=_MOST))
    return found


def _has(sample: ExplainSample, labels: Sequence[str], label: str, kind: str) -> bool:
    return any(
        label in ("", one.name) and kind in ("", one.kind) for one in sample.predictions(labels)
    )


def _values(sample: ExplainSample, of: str) -> list[float]:
    told = sample.inference
    parts: tuple[Sequence[float], ...] = ()
    if told:
        parts = getattr(told.truth, of), getattr(told.predicted, of)
    return [one for part in parts for one in part if not math.isnan(one)]
