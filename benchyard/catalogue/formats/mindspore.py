"""Folders of MindSpore: summaries of trainings, and explain jobs."""

from collections.abc import Callable, Iterable
from pathlib import Path

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.catalogue.mindspore.explain_job import ExplainJob, read_job
from benchyard.catalogue.mindspore.folder import (
    Contents,
    contents,
    explain_files,
    graphs,
    manifest,
    profilers,
    times,
    training_files,
)
from benchyard.catalogue.mindspore.records import RecordReader
from benchyard.catalogue.mindspore.training import Training, read_training
from benchyard.core.files import opened


class MindsporeSummary:
    """What a training wrote: summaries, lineage, graphs, profiles."""

    name = "mindspore-summary"
    #: What people call it.
    tool = "a training of MindSpore"

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the folder if it has summary files, graphs or profiles."""
        some = training_files(listing.files) or graphs(listing.files) or profilers(listing.folders)
        return (".",) if some else ()

    def describe(self, found: Candidate) -> Entry | None:
        """Return what it has; None if neither a summary nor a look inside says MindSpore."""
        return _described(self.name, found, _of_training)

    def load(self, entry: Entry) -> Training:
        """Read the newest summary file.

        Raises:
            RecordError: If it cannot be read.
        """
        return read_training(entry.place)


class MindsporeExplain:
    """What an explain job wrote."""

    name = "mindspore-explain"
    #: What people call it.
    tool = "an explain job of MindSpore"

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the folder if it has summary files of explain jobs."""
        return (".",) if explain_files(listing.files) else ()

    def describe(self, found: Candidate) -> Entry | None:
        """Return what it has, as its manifest says it."""
        return _described(self.name, found, _of_explain_job)

    def load(self, entry: Entry) -> ExplainJob:
        """Read the newest job.

        Raises:
            RecordError: If it cannot be read.
        """
        return read_job(entry.place)


def _described(
    name: str, found: Candidate, say: Callable[[Candidate, Contents], Entry | None]
) -> Entry | None:
    try:
        return say(found, contents(found.place))
    except FileNotFoundError:
        return None
    except OSError as error:
        return found.entry(name, 0, 0, title=found.place.name, broken=f"cannot be read: {error}")


def _of_training(found: Candidate, has: Contents) -> Entry | None:
    if not has.is_of_a_training:
        return None
    at, title = times(found.place, training_files(has.files)), found.place.name
    return found.entry(MindsporeSummary.name, *at, title=title, counts=has.counts)


def _of_explain_job(found: Candidate, has: Contents) -> Entry | None:
    files = explain_files(has.files)
    if not files:
        return None
    says = manifest(found.place, files[-1])
    return found.entry(
        MindsporeExplain.name,
        *times(found.place, files),
        title=found.place.name,
        broken=says.problem or _damage(found.place / files[-1].name),
        counts=has.counts,
        parameters={
            "saliency_map": says.saliency_map,
            "hierarchical_occlusion": says.hierarchical_occlusion,
        },
    )


def _damage(file: Path) -> str:
    """Tell why nothing can be read of a summary file; empty if its first record can."""
    try:
        with opened(file) as stream:
            reader = RecordReader(stream)
            next(iter(reader), None)
    except OSError as error:
        return f"{file.name}: cannot be read: {error.strerror or error}"
    return f"{file.name}: {reader.stopped}" if reader.stopped and not reader.offset else ""


#: For the registry.
MINDSPORE = (MindsporeSummary(), MindsporeExplain())
