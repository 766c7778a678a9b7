"""From a valid document to frozen values; nothing here can fail."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from benchyard.case.naming import plainly_named
from benchyard.case.sizes import size
from benchyard.core.model import RETRIES_OF_MAY_FAIL, Case, Check, JsonObject, Requires, Step


def build_case(folder: Path, document: JsonObject, point: JsonObject) -> Case:
    """Make the case of one matrix point from a document that has been validated and filled."""
    fields = cast("dict[str, Any]", document)
    name = fields["name"]
    names = plainly_named(fields.get("resources", {}))
    return Case(
        folder=folder,
        id=fields.get("@id", f"urn:benchyard:case:{name}"),
        name=name,
        description=fields.get("description", ""),
        steps=build_steps(fields["steps"]),
        tags=tuple(fields.get("tags", ())),
        point=point,
        settings=names.settings,
        classes=names.classes,
        requires=_requires(fields.get("requires", {})),
        repositories=_repositories(fields.get("subject", {})),
    )


def _repositories(subject: dict[str, Any]) -> tuple[str, ...]:
    named: str | list[str] = subject.get("repository", [])
    return (named,) if isinstance(named, str) else tuple(named)


def _requires(fields: dict[str, Any]) -> Requires:
    cores, memory = fields.get("cores"), fields.get("memory")
    return Requires(
        tags=tuple(fields.get("tags", ())),
        hosts=tuple(fields.get("hosts", ())),
        memory_bytes=None if memory is None else size(memory),
        cores=None if cores is None else int(cores),
        docker=fields.get("docker", False),
    )


def build_steps(documents: list[dict[str, Any]]) -> tuple[Step, ...]:
    """Make the steps; a step without ``needs`` waits for the one before it."""
    ids = [step_id(fields, index) for index, fields in enumerate(documents, 1)]
    return tuple(_step(fields, index, ids) for index, fields in enumerate(documents, 1))


def step_id(fields: Mapping[str, Any], index: int) -> str:
    """Return the step's ``@id``, or ``step<index>`` where it has none."""
    return str(fields.get("@id", f"step{index}"))


def _step(fields: dict[str, Any], index: int, ids: list[str]) -> Step:
    before = (ids[index - 2],) if index > 1 else ()
    may_fail = fields.get("may_fail", False)
    check = fields.get("check")
    return Step(
        index=index,
        id=ids[index - 1],
        name=fields.get("name", f"{fields['resource']} {fields['command']}"),
        resource=fields["resource"],
        command=fields["command"],
        parameters=fields.get("parameters", {}),
        needs=tuple(dict.fromkeys(fields.get("needs", before))),
        timeout=fields.get("timeout"),
        # 2.0 is an integer to JSON Schema; counting needs a real one.
        retries=int(fields.get("retries", RETRIES_OF_MAY_FAIL if may_fail else 0)),
        retry_delay=fields.get("retry_delay", 0.0),
        may_fail=may_fail,
        expect_failure=fields.get("expect_failure", False),
        measure=fields.get("measure", True),
        warmup=int(fields.get("warmup", 0)),
        repeat=int(fields.get("repeat", 1)),
        check=Check(**check) if check is not None else None,
    )
