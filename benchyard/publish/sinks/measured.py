"""What a published document says of what was measured."""

import json
from typing import Any, cast

from benchyard.core.model import Json, JsonObject
from benchyard.publish.testresults import Document
from benchyard.publish.testresults.document import SUBJECT
from benchyard.results.subject import Subject


def subject_in(document: Document) -> Subject:
    """Return the subject of a document.

    What other programs wrote, and an older Benchyard, says less: the host; the digest of the case
    or, where there is no case, the commit. Such a subject has no digest.
    """
    told = document.arguments
    whole = subject_of_text(told.get(SUBJECT, ""))
    if whole:
        return whole
    host = _inside(document.body, "machineConfiguration", "hostname")
    if told.get("case-hash"):
        return {**known_of(document.test, host, None), "case": {"hash": told["case-hash"]}}
    return known_of(document.test, host, _inside(document.body, "commitId", "hash"))


def known_of(test: str, host: str | None, commit: str | None) -> Subject:
    """Return the subject of a test of which only host and commit are known, if they are."""
    found: JsonObject = {"host": host} if host else {}
    return {**found, "repositories": {test: {"commit": commit}}} if commit else found


def subject_of_text(text: Json) -> Subject:
    """Read a subject that was written as JSON; empty if it was cut, or is none."""
    try:
        # Not orjson: names of programs may be no Unicode.
        found: Any = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return cast("JsonObject", found) if isinstance(found, dict) else {}


def suspect_in(entry: JsonObject) -> str:
    """Return why the numbers of an entry are not to be trusted; empty is right."""
    extras = entry.get("extras")
    told = extras.get("suspect") if isinstance(extras, dict) else None
    if not isinstance(told, dict):
        return ""
    reason = told.get("stringValue", told.get("string_value"))
    return reason if isinstance(reason, str) else ""


def _inside(body: JsonObject, name: str, member: str) -> str | None:
    for spelling in (name, _SNAKE[name]):
        found = body.get(spelling)
        value = found.get(member) if isinstance(found, dict) else None
        if isinstance(value, str) and value:
            return value
    return None


_SNAKE = {"machineConfiguration": "machine_configuration", "commitId": "commit_id"}
