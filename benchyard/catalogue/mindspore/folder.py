"""What a folder of MindSpore's summaries contains, by names and times.

Source: MindInsight's SummaryWatcher. Unlike there, a folder with graphs (``.pb``) alone counts only
if MindSpore wrote one of them: other tools' files end so too.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from benchyard.core.files import content, opened
from benchyard.core.json_text import decoded

EXPLAIN, LINEAGE = "_explain", "_lineage"
_SUMMARY = re.compile(r"summary\.([0-9]+)")
_PROFILER = re.compile(r"^profiler")
#: What MindSpore's profilers leave, for each kind of device.
_PROFILE = re.compile(
    r"^(profiler_info|(ascend_)?timeline_display|output_op_compute_time|step_trace_raw"
    r"|gpu_op_detail_info|gpu_activity_data|gpu_op_type_info|cpu_op_detail_info|cpu_op_type_info)"
    r"_[0-9]+[._]"
)
_MEMORY_USAGE = re.compile(r"^memory_usage_[0-9]+\.pb$")
#: Of the year 9999.
LAST_SECOND = 253_402_300_799
_MANIFEST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """A summary file.

    Args:
        created_s: The number in its name: seconds since the epoch.
    """

    name: str
    created_s: int

    @property
    def counted_as(self) -> str:
        """``explain_files``, ``lineage_files`` or ``summary_files``."""
        for ending in (EXPLAIN, LINEAGE):
            if self.name.endswith(ending):
                return f"{ending[1:]}_files"
        return "summary_files"


def summary_files(names: Iterable[str]) -> list[SummaryFile]:
    """Return the summary files among some names, the one with the largest number last."""
    found = [
        SummaryFile(name, int(match[1]))
        for name in names
        if (match := _SUMMARY.search(name)) and len(match[1]) <= 12
    ]
    return sorted(
        (file for file in found if file.created_s <= LAST_SECOND),
        key=lambda file: (file.created_s, file.name),
    )


def explain_files(names: Iterable[str]) -> list[SummaryFile]:
    """Return those that belong to explain jobs, the newest last."""
    return [file for file in summary_files(names) if file.counted_as == "explain_files"]


def training_files(names: Iterable[str]) -> list[SummaryFile]:
    """Return those of trainings, lineage among them, the newest last."""
    return [file for file in summary_files(names) if file.counted_as != "explain_files"]


def graphs(names: Iterable[str]) -> list[str]:
    """Return the files with graphs among some names."""
    return [name for name in names if name.endswith(".pb") and not _MEMORY_USAGE.match(name)]


def profilers(names: Iterable[str]) -> list[str]:
    """Return what may be folders of MindSpore's profiler."""
    return sorted(name for name in names if _PROFILER.match(name))


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a folder.

    Args:
        files: Names of regular files; symbolic links are left out.
        folders: Names of folders; symbolic links are left out.
    """

    folder: Path
    files: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of files, as MindInsight counts them, and of profiles."""
        found = {"summary_files": 0, "lineage_files": 0, "explain_files": 0}
        for file in summary_files(self.files):
            found[file.counted_as] += 1
        profiles = sum(is_profiler(self.folder / name) for name in profilers(self.folders))
        return found | {"graph_files": len(graphs(self.files)), "profiles": profiles}

    @property
    def is_of_a_training(self) -> bool:
        """Whether MindSpore wrote summaries, graphs or profiles."""
        return (
            bool(training_files(self.files))
            or any(is_graph(self.folder / name) for name in graphs(self.files))
            or any(is_profiler(self.folder / name) for name in profilers(self.folders))
        )


def contents(folder: Path) -> Contents:
    """Return what lies in a folder.

    Raises:
        OSError: If it cannot be listed.
    """
    files: list[str] = []
    folders: list[str] = []
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
    return Contents(folder, tuple(files), tuple(folders))


def times(folder: Path, files: Sequence[SummaryFile]) -> tuple[float, float]:
    """Return when the newest of some files was created, and when it last changed.

    Without any, both are the time of the folder.

    Raises:
        OSError: If it is gone.
    """
    if not files:
        changed_s = time_of(folder.stat())
        return changed_s, changed_s
    return float(files[-1].created_s), time_of((folder / files[-1].name).stat())


def time_of(status: os.stat_result) -> float:
    """Return when a file changed, or the nearest time that a calendar has."""
    return min(max(status.st_mtime, 0.0), float(LAST_SECOND))


def is_graph(path: Path) -> bool:
    """Tell whether MindSpore wrote a graph: it says so at its beginning.

    Source: ModelProto.producer_name in MindSpore's anf_ir.proto.
    """
    try:
        with opened(path) as stream:
            return b"MindSpore" in stream.read(64)
    except OSError:
        return False


def is_profiler(folder: Path) -> bool:
    """Tell whether a folder holds what MindSpore's profiler writes."""
    try:
        return any(_PROFILE.match(file.name) for file in folder.iterdir())
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class JobManifest:
    """What an explain job says that it has.

    Args:
        problem: Why its manifest cannot be read; empty if it can, or if there is none.
    """

    saliency_map: bool = True
    hierarchical_occlusion: bool = False
    problem: str = ""


def manifest(folder: Path, file: SummaryFile) -> JobManifest:
    """Return what belongs to a summary file; older versions of MindSpore write none."""
    path = folder / f"_explain_{file.created_s}" / "manifest.json"
    try:
        found = decoded(content(path, _MANIFEST_BYTES))
    except FileNotFoundError:
        return JobManifest()
    except (OSError, ValueError, RecursionError) as error:
        return JobManifest(problem=f"{path.parent.name}/{path.name} cannot be read: {error}")
    if not isinstance(found, dict):
        return JobManifest(problem=f"{path.parent.name}/{path.name} is no JSON object")
    told = cast("dict[str, object]", found)
    return JobManifest(
        bool(told.get("saliency_map", True)), bool(told.get("hierarchical_occlusion", False))
    )
