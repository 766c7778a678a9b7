"""What a run measured: the document of a subject, its digest, and what differs between two.

Members of the document; what is not known is null or left out, and says of no difference:

case: ``hash`` of metadata.json and the inputs, and ``point`` of the matrix.
classes: class name of a resource to the digest of its code: its modules and what these import
  from beside them.
packages: distribution to version, of what the modules of a user's own class import.
versions: class name to ``version``, as the system tells it, and ``image``, the digest of its image.
programs: program of a step to the digest of its file.
repositories: what led to a repository (``program x``, ``package y``, ``repository z``) to the
  ``commit`` that is checked out, and ``changes``: "none", or the digest of what is not committed.
host: name of the host.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from benchyard.core.model import Json, JsonObject, point_suffix
from benchyard.results.record import RunRecord

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
    return tuple(
        SubjectChange(_name(path), value, other[path])
        for path, value in one.items()
        if path in other and value != other[path]
    )


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
    parts = ("classes", "packages", "programs", "repositories")
    return {_name(path): value for path, value in _leaves(subject) if path[0] in parts}


def in_full(subject: Subject) -> dict[str, Json]:
    """Return all parts that are known, each by how it is called."""
    return {_name(path): value for path, value in _leaves(subject) if value != ""}


def in_words(found: Iterable[SubjectChange]) -> str:
    """Write differences as one clause: "DuckDB 1.2.2 and 2.0.0, files of the case"."""
    return ", ".join(map(str, found))


#: Characters of a version that are shown: images and kernels have long ones.
_LONGEST_VERSION = 24


def about(subject: Subject) -> str:
    """Say in short what was measured where: "on HOST, commit 0123456789, DuckDB 1.2.2"."""
    commit = commit_of(subject)
    told = [f"on {subject.get('host')}", *([f"commit {commit}"] if commit else [])]
    versions = subject.get("versions")
    for name, facts in versions.items() if isinstance(versions, dict) else ():
        version = facts.get("version") if isinstance(facts, dict) else None
        if isinstance(version, str) and len(version) <= _LONGEST_VERSION:
            told.append(f"{name} {version}")
    return ", ".join(told)


def content_of(subject: Subject) -> Json:
    """Return the digest of the case's files; None if it is not known."""
    case = subject.get("case")
    return case.get("hash") if isinstance(case, dict) else None


def commit_of(subject: Subject) -> str | None:
    """Return the commits of what was measured, in short; None if it is in no repository."""
    found = subject.get("repositories")
    states = found.values() if isinstance(found, dict) else ()
    return ", ".join(dict.fromkeys(filter(None, map(_state_in_short, states)))) or None


def _state_in_short(state: Json) -> str | None:
    commit = state.get("commit") if isinstance(state, dict) else None
    if not isinstance(state, dict) or not isinstance(commit, str) or commit == "none":
        return None
    dirty = state.get("changes") not in ("none", None)
    return commit[:_SHORT_COMMIT] + (" with changes" if dirty else "")


_Path: TypeAlias = tuple[str, ...]


def _leaves(value: "Json | Subject", path: _Path = ()) -> Iterator[tuple[_Path, Json]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if (*path, name) != ("digest",):
                yield from _leaves(inner, (*path, name))
    elif value is not None:
        yield path, value


#: What leads to a value, to how it is called; ``*`` is a name.
_NAMES: Mapping[tuple[str, ...], str] = {
    ("case", "hash"): "files of the case",
    ("case", "point"): "point of the matrix",
    ("classes", "*"): "code of {}",
    ("packages", "*"): "{}",
    ("versions", "*", "version"): "{}",
    ("versions", "*", "image"): "image of {}",
    ("programs", "*"): "program {}",
    ("repositories", "*", "commit"): "commit of {}",
    ("repositories", "*", "changes"): "uncommitted changes in {}",
    ("host",): "host",
}


def _name(path: tuple[str, ...]) -> str:
    pattern = (path[0], *("*" if place == 1 else part for place, part in enumerate(path[1:], 1)))
    for known in (path, pattern):
        if known in _NAMES:
            return _NAMES[known].format(path[1] if len(path) > 1 else "")
    return " ".join(path)


def _shown(value: Json) -> str | None:
    text = value if isinstance(value, str) else json.dumps(value)
    if _COMMIT.fullmatch(text):
        return text[:_SHORT_COMMIT]
    return None if _DIGEST.search(text) or text == "none" else text
