"""What goes into a pack: cases, inputs, classes, records; all of it looked at before writing."""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchyard import __version__
from benchyard.case.loading import METADATA
from benchyard.case.registry import Registry
from benchyard.case.resource import Resource
from benchyard.case.subject.contents import INSTALLED, OWN_PACKAGES, code_of, content_hash
from benchyard.core.errors import CaseError
from benchyard.core.files import inside, opened, shown, special
from benchyard.core.model import Case, Json, object_in, point_suffix, slug
from benchyard.core.redaction import Redaction, Stream
from benchyard.core.wording import printable, quote
from benchyard.publish.packs.archives import Contents
from benchyard.publish.packs.manifest import (
    CASES,
    CLASSES,
    LOCK,
    README,
    RESULTS,
    Manifest,
    PackedCase,
    PackedFile,
    is_safe,
    readme,
)
from benchyard.publish.packs.packages import installed_packages, other_environment, python_version
from benchyard.results.campaigns import Campaign, read_campaign
from benchyard.results.folders import (
    ANNOTATIONS_FILE,
    DONE,
    EVENTS_FILE,
    MARK,
    METRICS_FILE,
    RESOURCES_FILE,
    RUN_FILE,
    SUMMARY_FILES,
    Results,
)
from benchyard.results.layout import point_slug
from benchyard.results.record import RunRecord
from benchyard.results.subject import content_of, subject_of, told_version

_RECORDS = (MARK, RUN_FILE, DONE)
#: The curves, and what a timeline is made of.
_SAMPLES = (METRICS_FILE, RESOURCES_FILE, EVENTS_FILE)
_ENVIRONMENT = re.compile(r"(?<!\$)\$\{env:([^{}]+)\}")
#: A secret that is shorter would be found everywhere.
_SHORTEST_SECRET = 4
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Measured:
    """A case to be packed, and where its runs lie."""

    case: Case
    results: Path


@dataclass(frozen=True, slots=True)
class Collection:
    """All of a pack before it is written.

    Args:
        contents: Of the manifest's files.
        warnings: What the packer should know.
    """

    manifest: Manifest
    contents: Contents
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Collected:
    """What is found, and all that is wrong with it."""

    contents: dict[str, Path | bytes] = field(default_factory=dict[str, "Path | bytes"])
    links: dict[str, str] = field(default_factory=dict[str, str])
    wrong: list[str] = field(default_factory=list[str])

    def add(self, name: str, file: Path, base: Path) -> None:
        """Add a file that lies in a folder, a link to one of its files as that file."""
        target = self._target(name, file, base)
        if target is None:
            return
        if target.is_file():
            self.contents[name] = target
        else:
            what = special(target) if target.exists() else "a link to nothing"
            self.wrong.append(f"{shown(file)} is {what or 'no file'}")

    def add_link(self, name: str, link: Path, base: Path) -> None:
        """Add a link to a folder in the same folder."""
        target = self._target(name, link, base)
        if target is not None:
            self.links[name] = os.path.relpath(target, os.path.realpath(link.parent))

    def _target(self, name: str, path: Path, base: Path) -> Path | None:
        """Return where a path leads; None, which is told, if that is nowhere in the folder."""
        target = inside(base, os.path.relpath(path, base))
        if target is None:
            self.wrong.append(f"{shown(path)} leads out of {shown(base)}: put a copy there")
        elif not is_safe(name):
            self.wrong.append(f"'{quote(name)}' has characters that not every system takes")
            return None
        return target


def collect(
    measured: Sequence[Measured], registry: Registry, folders: Sequence[Path], *, samples: bool
) -> Collection:
    """Find all that a pack of some cases holds.

    Args:
        measured: Cases with finished runs.
        folders: Those with further resource classes, as given with ``--resources``.
        samples: Take the curves too.

    Raises:
        CaseError: With everything that speaks against packing: a case without finished runs, or
            changed since; links that lead out; modules that lie elsewhere; a secret in a file.
    """
    found = _Collected()
    names = _names([one.case for one in measured])
    both = [(one.case, read_campaign(one.results)) for one in measured]
    for case in {one.case.folder: one.case for one in measured}.values():
        _add_inputs(found, case, f"{CASES}/{names[case.folder]}")
    cases: list[PackedCase] = []
    for case, campaign in both:
        packed = _packed(case, campaign, registry, names[case.folder])
        cases.append(packed)
        found.wrong += _unmeasured(case, campaign)
        _add_records(found, campaign.folder, packed.results, samples=samples)
    classes = _add_classes(found, both, registry, folders)
    _refuse_secrets(found, _declarations(one.case for one in measured))
    if found.wrong:
        raise CaseError(tuple(dict.fromkeys(map(printable, found.wrong))))
    newest = {case.title: there.newest for case, there in both if there.newest}
    return _collection(found, cases, classes, newest)


def _names(cases: Sequence[Case]) -> dict[Path, str]:
    """Return the place in the pack for each folder of a case: two never share one.

    Where a case includes files beside its folder, it has a folder for itself and these.
    """
    found: dict[Path, str] = {}
    for case in cases:
        name, taken = slug(case.name), {place.partition("/")[0] for place in found.values()}
        numbered = (f"{name}-{number}" for number in range(2, len(cases) + 2))
        free = next(one for one in (name, *numbered) if one not in taken)
        found.setdefault(case.folder, f"{free}/{case.folder.name}" if case.included else free)
    return found


def _declarations(cases: Iterable[Case]) -> list[Path]:
    """Return the files in which the steps of cases stand, each once."""
    return [*dict.fromkeys(file for c in cases for file in (c.folder / METADATA, *c.included))]


def _packed(case: Case, campaign: Campaign, registry: Registry, name: str) -> PackedCase:
    interval = campaign.newest.collector.get("interval_s") if campaign.newest else None
    below = f"/{point_slug(case.point)}" if case.point else ""
    return PackedCase(
        title=case.title,
        folder=f"{CASES}/{name}",
        point=point_suffix(case.point),
        results=f"{RESULTS}/{name}{below}",
        runs=tuple(sorted(campaign.records)),
        interval_s=float(interval) if isinstance(interval, int | float) else None,
        classes=tuple(sorted(one.__name__ for one in _own_classes(case, registry).values())),
    )


def _unmeasured(case: Case, campaign: Campaign) -> Iterator[str]:
    """Yield why the runs of a case do not belong to what would be packed."""
    yield from campaign.unreadable.values()
    if campaign.newest is None:
        yield f"{case.title} has no finished run to compare with; benchyard run makes them"
    elif content_of(subject_of(campaign.newest)) not in (
        None,
        content_hash(case.folder, case.included),
    ):
        yield (
            f"{case.title}: files of the case have changed since run {campaign.newest.run}; "
            "execute it again before it is packed"
        )


def _add_inputs(found: _Collected, case: Case, name: str) -> None:
    folder = case.folder

    def named(path: Path) -> str:
        return posixpath.normpath(f"{name}/{os.path.relpath(path, folder)}")

    for file in _declarations([case]):
        found.add(named(file), file, folder.parent)
    shared = folder / "data" / "shared"
    if inside(folder, "data/shared") is None:
        found.wrong.append(f"{shown(shared)} leads out of {shown(folder)}: put a copy there")
        return
    for parent, folders, files in os.walk(shared):
        for path in (Path(parent, one) for one in sorted(files)):
            found.add(named(path), path, shared)
        for path in (Path(parent, one) for one in sorted(folders)):
            if path.is_symlink():
                found.add_link(named(path), path, shared)


def _add_records(found: _Collected, results: Path, name: str, *, samples: bool) -> None:
    kept = (*_RECORDS, *(_SAMPLES if samples else ()))
    recorded = Results(results).recorded().values()
    for run in (run.path for run in recorded if run.record.is_file()):
        for file in (run / one for one in kept):
            if os.path.lexists(file):
                found.add(f"{name}/{run.name}/{file.name}", file, results)
    for file in (results / one for one in (*SUMMARY_FILES, ANNOTATIONS_FILE)):
        if os.path.lexists(file):
            found.add(f"{name}/{file.name}", file, results)


def _own_classes(case: Case, registry: Registry) -> dict[str, type[Resource[Any]]]:
    """Return the resources of a case whose classes do not come with Benchyard."""
    names = dict.fromkeys(step.resource for step in case.steps)
    found = {name: registry.classes.get(case.class_of(name)) for name in names}
    return {name: kind for name, kind in found.items() if kind and not _is_shipped(kind)}


def _is_shipped(kind: type[Resource[Any]]) -> bool:
    return kind.__module__.partition(".")[0] in OWN_PACKAGES


def _add_classes(
    found: _Collected,
    measured: Iterable[tuple[Case, Campaign]],
    registry: Registry,
    folders: Sequence[Path],
) -> list[str]:
    """Add the modules of the cases' own classes; return the folders in which they lie packed.

    Modules that are installed or Benchyard's are left out. A folder keeps its own name: the digest
    of a class is made of it too.
    """
    resolved = dict.fromkeys(folder.resolve() for folder in folders)
    names = {one: f"{CLASSES}/{n}/{one.name}" for n, one in enumerate(resolved, 1)}
    shipped = (name for name, kind in registry.classes.items() if _is_shipped(kind))
    theirs = {Path(registry.origins[name]).resolve().parent for name in shipped}
    used: dict[str, None] = {}
    for case, campaign in measured:
        for resource, kind in _own_classes(case, registry).items():
            code = code_of(kind)
            if _then(campaign, resource) not in (None, code.digest):
                found.wrong.append(
                    f"{case.title}: the code of {resource} has changed since its runs; execute it "
                    "again before it is packed"
                )
            for file in code.files:
                folder = next((one for one in names if one in file.parents), None)
                if INSTALLED & set(file.parts) or theirs & set(file.parents):
                    continue
                if folder is None:
                    found.wrong.append(
                        f"{kind.__name__} needs {shown(file)}, which lies outside of what "
                        "--resources names: put it there"
                    )
                    continue
                used[names[folder]] = None
                name = f"{names[folder]}/{file.relative_to(folder).as_posix()}"
                found.add(name, file, folder)
    return list(used)


def _then(campaign: Campaign, resource: str) -> Json:
    newest = campaign.newest
    return object_in(subject_of(newest), "classes").get(resource) if newest else None


def _refuse_secrets(found: _Collected, cases: Iterable[Path]) -> None:
    """Find files with the value that a secret of a case has here."""
    redaction = Redaction()
    for file in cases:
        for name in _ENVIRONMENT.findall(file.read_text(encoding="utf-8", errors="replace")):
            value = os.environ.get(name, "")
            if len(value) >= _SHORTEST_SECRET:
                redaction.add(value)
    for content in found.contents.values() if redaction.forms else ():
        if isinstance(content, Path) and _holds(content, redaction):
            found.wrong.append(f"{shown(content)} holds the value of a secret: take it out")


def _holds(file: Path, redaction: Redaction) -> bool:
    stream = Stream(redaction.forms)
    with opened(file) as plain:
        while piece := plain.read(_PIECE):
            stream.feed(piece)
    stream.finish()
    return stream.found


def _collection(
    found: _Collected,
    cases: Sequence[PackedCase],
    classes: Sequence[str],
    newest: Mapping[str, RunRecord],
) -> Collection:
    packages = installed_packages()
    lock = "".join(f"{name}=={version}\n" for name, version in packages.items())
    manifest = Manifest(
        benchyard=__version__,
        python=python_version(),
        cases=tuple(cases),
        classes=tuple(classes),
        packages=packages,
        images=_images(newest),
        files={},
        links=dict(sorted(found.links.items())),
    )
    contents: dict[str, Path | bytes] = {
        **found.contents,
        LOCK: lock.encode(),
        README: "\n".join(readme(manifest, newest)).encode(),
    }
    files = {name: PackedFile.of(contents[name]) for name in sorted(contents)}
    warnings = tuple(dict.fromkeys(other_environment(newest.values())))
    return Collection(replace(manifest, files=files), contents, warnings)


def _images(newest: Mapping[str, RunRecord]) -> dict[str, str]:
    told = (
        (f"{title}: {name}", told_version(facts).get("image"))
        for title, record in newest.items()
        for name, facts in record.resources.items()
    )
    return {name: image for name, image in told if isinstance(image, str)}
