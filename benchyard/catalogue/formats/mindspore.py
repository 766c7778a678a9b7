"""Folders of MindSpore: summaries of trainings, and explain jobs.

Source: MindInsight's SummaryWatcher. Unlike there, a folder with graphs (``.pb``) or profiles alone
counts only if MindSpore wrote one of them: other tools' files and folders have such names, too.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Candidate, FolderListing, listing_of
from benchyard.catalogue.mindspore.explain_job import ExplainJob, read_job, time_of
from benchyard.catalogue.mindspore.summaries import (
    Progress,
    SummaryFile,
    Training,
    read_training,
    records,
    summary_files,
)
from benchyard.core.files import content, opened
from benchyard.core.json_text import decoded, read_as

_PROFILER = re.compile(r"^profiler")
#: What MindSpore's profilers leave, for each kind of device.
_PROFILE = re.compile(
    r"^(profiler_info|(ascend_)?timeline_display|output_op_compute_time|step_trace_raw"
    r"|gpu_op_detail_info|gpu_activity_data|gpu_op_type_info|cpu_op_detail_info|cpu_op_type_info)"
    r"_[0-9]+[._]"
)
_MEMORY_USAGE = re.compile(r"^memory_usage_[0-9]+\.pb$")
_MANIFEST_BYTES = 2**20


class MindsporeSummary:
    """What a training wrote: summaries, lineage, graphs, profiles."""

    name = "mindspore-summary"
    #: What people call it.
    tool = "a training of MindSpore"

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the folder if it has summary files, graphs or profiles."""
        some = _of_trainings(listing) or _graphs(listing) or _profilers(listing)
        return (".",) if some else ()

    def describe(self, found: Candidate) -> Entry | None:
        """Return what it has; None if neither a summary nor a look inside says MindSpore."""
        return _described(self.name, found, _training)

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
        return (".",) if summary_files(listing.files, "explain") else ()

    def describe(self, found: Candidate) -> Entry | None:
        """Return what it has, as its manifest says it."""
        return _described(self.name, found, _explain_job)

    def load(self, entry: Entry) -> ExplainJob:
        """Read the newest job.

        Raises:
            RecordError: If it cannot be read.
        """
        return read_job(entry.place)


#: For the registry.
MINDSPORE = (MindsporeSummary(), MindsporeExplain())


def _of_trainings(listing: FolderListing) -> list[SummaryFile]:
    return summary_files(listing.files, "summary", "lineage")


def _graphs(listing: FolderListing) -> list[Path]:
    """Return the files with graphs."""
    names = [name for name in listing.files if name.endswith(".pb")]
    return [listing.folder / name for name in names if not _MEMORY_USAGE.match(name)]


def _profilers(listing: FolderListing) -> list[Path]:
    """Return what may be folders of MindSpore's profiler."""
    return [listing.folder / name for name in listing.folders if _PROFILER.match(name)]


def _described(
    name: str, found: Candidate, say: Callable[[str, Candidate, FolderListing], Entry | None]
) -> Entry | None:
    try:
        return say(name, found, listing_of(found.place))
    except FileNotFoundError:
        return None
    except OSError as error:
        return found.entry(name, 0, 0, title=found.place.name, broken=f"cannot be read: {error}")


def _training(name: str, found: Candidate, has: FolderListing) -> Entry | None:
    files = _of_trainings(has)
    some = files or any(map(_is_graph, _graphs(has))) or any(map(_is_profiler, _profilers(has)))
    return _entry(name, found, files, has) if some else None


def _explain_job(name: str, found: Candidate, has: FolderListing) -> Entry | None:
    files = summary_files(has.files, "explain")
    if not files:
        return None
    parameters, problem = _manifest(found.place / f"_explain_{files[-1].created_s}")
    broken = problem or _damage(found.place / files[-1].name)
    return _entry(name, found, files, has, parameters=parameters, broken=broken)


def _entry(
    name: str, found: Candidate, files: Sequence[SummaryFile], has: FolderListing, **told: object
) -> Entry:
    """Return an entry with the times of its newest file, or of its folder if it has none."""
    newest = files[-1] if files else None
    changed_s = time_of((found.place / newest.name if newest else found.place).stat())
    created_s = float(newest.created_s) if newest else changed_s
    kinds = [file.kind for file in summary_files(has.files)]
    counts = {f"{kind}_files": kinds.count(kind) for kind in ("summary", "lineage", "explain")}
    counts["graph_files"] = len(_graphs(has))
    counts["profiles"] = sum(map(_is_profiler, _profilers(has)))
    return found.entry(name, created_s, changed_s, title=found.place.name, counts=counts, **told)


def _is_graph(path: Path) -> bool:
    """Tell whether MindSpore wrote a graph: it says so at its beginning.

    Source: ModelProto.producer_name in MindSpore's anf_ir.proto.
    """
    try:
        with opened(path) as stream:
            return b"MindSpore" in stream.read(64)
    except OSError:
        return False


def _is_profiler(folder: Path) -> bool:
    """Tell whether a folder holds what MindSpore's profiler writes."""
    try:
        return any(_PROFILE.match(file.name) for file in folder.iterdir())
    except OSError:
        return False


def _manifest(folder: Path) -> tuple[dict[str, bool], str]:
    """Return what a job says that it has, and why its manifest cannot be read.

    Older versions of MindSpore write none.
    """
    says = {"saliency_map": True, "hierarchical_occlusion": False}
    path, problem = folder / "manifest.json", ""
    try:
        told = read_as(dict[str, object], decoded(content(path, _MANIFEST_BYTES)))
        says = {name: bool(told.get(name, default)) for name, default in says.items()}
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        problem = f"{folder.name}/{path.name} cannot be read: {error}"
    return says, problem


def _damage(file: Path) -> str:
    """Tell why nothing can be read of a summary file; empty if its first record can."""
    progress = Progress()
    try:
        with opened(file) as stream:
            next(records(stream, progress), None)
    except OSError as error:
        return f"{file.name}: cannot be read: {error.strerror or error}"
    return f"{file.name}: {progress.stopped}" if progress.stopped and not progress.offset else ""
