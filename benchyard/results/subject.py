"""What a run measured: the document of a subject, its digest, and what differs between two.

Members of the document; what is not known is null or left out, and says of no difference:

case: ``hash`` of metadata.json and the inputs, and ``point`` of the matrix.
classes: class name of a resource to the digest of its code: its modules and what these import
  from beside them.
packages: distribution to version, of what the modules of a user's own class import.
versions: class name to ``version``, as the system tells it, and ``image``, the digest of its image.
programs: program of a step to the digest of its file.
libraries: program to the shared objects that the loader maps for it, each with its digest.
environments: resource to the distributions that its programs of Python can import, each with its
  version; of what an index does not have, also the commit or a digest: "1.0 (commit …)".
imported: resource to those that its program did import, where it says so: these decide alone.
files, build: pattern of the case to the digest of the files that it matches.
repositories: what led to a repository (``program x``, ``package y``, ``repository z``) to the
  ``commit`` that is checked out, and ``changes``: "none", or the digest of what is not committed.
host: name of the host.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from benchyard.core.model import Json, JsonObject, point_suffix
from benchyard.results.record import RunRecord, commits

Subject: TypeAlias = Mapping[str, Json]

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
#: Characters of a commit, as git itself shortens it in large repositories.
_SHORT_COMMIT = 10


@dataclass(frozen=True, slots=True)
class SubjectChange:
    """One thing in which two subjects differ.

    Args:
        what: It, in a few words.
        before: Its value in the earlier subject.
        after: Its value in the later one.
    """

    what: str
    before: Json
    after: Json

    def __str__(self) -> str:
        """Write it for a person; digests tell nothing to anyone."""
        values = [_shown(value) for value in (self.before, self.after)]
        return self.what if None in values else f"{self.what} {values[0]} and {values[1]}"


def digested(parts: Subject) -> JsonObject:
    """Return a subject with its ``digest``, over everything else."""
    body = {name: value for name, value in parts.items() if name != "digest"}
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return {**body, "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


def digest_of(subject: Subject) -> str:
    """Return the digest of a subject, computed anew."""
    return str(digested(subject)["digest"])


def subject_of(record: RunRecord) -> Subject:
    """Return the subject of a run; of an older record what else it tells of that."""
    if record.subject:
        return record.subject
    point = record.case.get("point")
    versions = {name: told_version(told) for name, told in record.resources.items()}
    return digested(
        {
            "case": {
                "hash": record.case.get("hash"),
                "point": point_suffix(point) if isinstance(point, dict) else "",
            },
            "versions": cast("Json", versions),
            "host": record.environment.get("host"),
        }
    )


def told_version(told: Json) -> JsonObject:
    """Return what tells one version of a resource from another, from what it told of itself.

    Args:
        told: Its facts, as ``run.json`` has them: ``version``, and of an image ``digests`` by which
            it was fetched (none if it was built here) and ``id``.
    """
    facts = told if isinstance(told, dict) else {}
    found: JsonObject = {"version": facts.get("version")}
    digests = facts.get("digests")
    image = digests[0] if isinstance(digests, list) and digests else facts.get("id")
    return found if image is None else {**found, "image": image}


def differences(before: Subject, after: Subject) -> tuple[SubjectChange, ...]:
    """Tell in what two subjects differ; an unknown value is no difference."""
    if before is after:
        return ()
    one, other = dict(_leaves(before)), dict(_leaves(after))
    changes = [
        SubjectChange(_name(path), value, other[path])
        for path, value in one.items()
        if path in other and value != other[path]
    ]
    return tuple(dict.fromkeys([*changes, *package_changes(before, after, decisive=True)]))


def package_changes(
    before: Subject, after: Subject, *, decisive: bool
) -> tuple[SubjectChange, ...]:
    """Tell which installed distributions differ.

    Args:
        decisive: Those that make another subject; or those that the programs did not import.
    """
    changes = _package_changes(before, after)
    return tuple(dict.fromkeys(change for change, decides in changes if decides is decisive))


def _package_changes(before: Subject, after: Subject) -> Iterator[tuple[SubjectChange, bool]]:
    """Yield which distributions differ between two subjects, and whether each decides.

    Those that were imported decide. Where no side knows them, all that are installed do.
    """
    environments, imports = (
        [_packages(subject, part) for subject in (before, after)]
        for part in ("environments", "imported")
    )
    for resource in dict.fromkeys(name for side in (*environments, *imports) for name in side):
        used = [side.get(resource) for side in imports]
        known = [side for side in used if side is not None]
        names = {name for side in known for name in side}
        if len(known) == len(used):
            yield from ((change, True) for change in _versions(known, "not imported"))
        installed = [side[resource] for side in environments if resource in side]
        if len(installed) == len(environments):
            for change in _versions(installed, "not installed"):
                if change.what not in names or len(known) < len(used):
                    yield change, not known or change.what in names


def _packages(subject: Subject, part: str) -> dict[str, JsonObject]:
    members = subject.get(part)
    named = members.items() if isinstance(members, dict) else ()
    return {name: versions for name, versions in named if isinstance(versions, dict)}


def _versions(sides: Sequence[JsonObject], absent: str) -> Iterator[SubjectChange]:
    for name in sorted({*sides[0], *sides[1]} if sides[0] != sides[1] else ()):
        full = [str(side.get(name, absent)) for side in sides]
        # Where the versions differ, the codes of them say no more.
        short = [text if text == absent else text.partition(" (")[0] for text in full]
        before, after = full if short[0] == short[1] else short
        if before != after:
            yield SubjectChange(name, before, after)


def by_subject(runs: Iterable[tuple[Path, RunRecord]]) -> list[list[tuple[Path, RunRecord]]]:
    """Group runs by what they measured, the newest group first; numbers ascend in each."""
    groups: list[tuple[Subject, list[tuple[Path, RunRecord]]]] = []
    for folder, record in sorted(runs, key=lambda run: run[1].began, reverse=True):
        subject = subject_of(record)
        alike = [group for first, group in groups if not differences(first, subject)]
        if alike:
            alike[0].append((folder, record))
        else:
            groups.append((subject, [(folder, record)]))
    return [sorted(group, key=lambda run: run[1].run) for _, group in groups]


def in_detail(subject: Subject) -> dict[str, Json]:
    """Return the parts that only a subject has, each by how it is called."""
    parts = ("classes", "packages", "programs", "libraries", "repositories", "files", "build")
    return {_name(path): value for path, value in _leaves(subject) if path[0] in parts}


def in_full(subject: Subject) -> dict[str, Json]:
    """Return all parts that are known, each by how it is called."""
    leaves = {_name(path): value for path, value in _leaves(subject) if value != ""}
    used = _packages(subject, "imported").values()
    return leaves | {name: version for versions in used for name, version in versions.items()}


#: Differences that one clause names: another environment may differ in hundreds.
_NAMED = 8


def in_words(found: Iterable[SubjectChange]) -> str:
    """Write differences as one clause: "DuckDB 1.2.2 and 2.0.0, files of the case"."""
    texts = [*map(str, found)]
    more = [f"{len(texts) - _NAMED} more"] if len(texts) > _NAMED + 1 else []
    return ", ".join([*texts[:_NAMED], *more] if more else texts)


#: Characters of a version that are shown: images and kernels have long ones.
_LONGEST_VERSION = 24


def about(subject: Subject) -> str:
    """Say in short what was measured where: "on HOST, commit 0123456789, DuckDB 1.2.2"."""
    commit = commit_of(subject)
    told = [f"on {subject.get('host')}", *([f"commit {commit}"] if commit else [])]
    known = told_versions(subject.get("versions"))
    told += [f"{name} {version}" for name, version in known if len(version) <= _LONGEST_VERSION]
    return ", ".join(told)


def told_versions(told: Json) -> Iterator[tuple[str, str]]:
    """Yield each resource that tells its version, with it.

    Args:
        told: ``versions`` of a subject, or ``resources`` of a record.
    """
    for name, facts in told.items() if isinstance(told, dict) else ():
        if version := facts.get("version") if isinstance(facts, dict) else None:
            yield name, str(version)


def content_of(subject: Subject) -> Json:
    """Return the digest of the case's files; None if it is not known."""
    case = subject.get("case")
    return case.get("hash") if isinstance(case, dict) else None


def commit_of(subject: Subject) -> str | None:
    """Return the commits of what was measured, in short; None if it is in no repository."""
    told = (
        commit[:_SHORT_COMMIT] + (" with changes" if changes is not None else "")
        for commit, changes in commits(subject)
    )
    return ", ".join(dict.fromkeys(told)) or None


_Path: TypeAlias = tuple[str, ...]
#: What is compared in another way than value by value.
_NO_LEAVES = (("digest",), ("environments",), ("imported",))


def _leaves(value: "Json | Subject", path: _Path = ()) -> Iterator[tuple[_Path, Json]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if (*path, name) not in _NO_LEAVES:
                yield from _leaves(inner, (*path, name))
    elif value is not None:
        yield path, value


#: What leads to a value, to how it is called; ``*`` is a name.
_NAMES: Mapping[_Path, str] = {
    ("case", "hash"): "files of the case",
    ("case", "point"): "point of the matrix",
    ("classes", "*"): "code of {1}",
    ("packages", "*"): "{1}",
    ("versions", "*", "version"): "{1}",
    ("versions", "*", "image"): "image of {1}",
    ("programs", "*"): "program {1}",
    ("libraries", "*", "*"): "shared object {2} of {1}",
    ("repositories", "*", "commit"): "commit of {1}",
    ("repositories", "*", "changes"): "uncommitted changes in {1}",
    ("files", "*"): "files {1}",
    ("build", "*"): "build {1}",
    ("host",): "host",
}


def _name(path: _Path) -> str:
    for pattern, name in _NAMES.items():
        if len(pattern) == len(path) and all(
            part in ("*", member) for part, member in zip(pattern, path, strict=True)
        ):
            return name.format(*path)
    return " ".join(path)


def _shown(value: Json) -> str | None:
    text = value if isinstance(value, str) else json.dumps(value)
    if _COMMIT.fullmatch(text):
        return text[:_SHORT_COMMIT]
    return None if _DIGEST.search(text) or text == "none" else text
