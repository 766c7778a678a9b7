"""Reading a TestResults document: its test and start, its entries, its identity.

Documents of every version of the schema are read, and those of printers that keep the .proto's
names of fields. Fields that no sink needs are not checked.
"""

import hashlib
import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import orjson

from benchyard.core.errors import DocumentRejectedError
from benchyard.core.model import Json, JsonObject, object_in
from benchyard.results.subject import Subject

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The first second that no date can name: years have four digits.
_TOO_LATE = 253_402_300_800
#: Hexadecimal digits of an identity; in an entry's, the last eight are its place.
_DIGITS, DIGITS_OF_DOCUMENT = 40, 32
#: Arguments of our own documents: the exact start, and what was measured, as JSON.
STARTED_AT, SUBJECT = "started-at", "subject"
_CAPITAL = re.compile("[A-Z]")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?Infinity|NaN")
_SHOWN = 40
_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text"}

_Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BenchmarkEntry:
    """One benchmark of a document.

    Args:
        name: Its name; several entries may share it.
        wall_time: As the document says it, in seconds; NaN where it says so.
        body: The entry as it stands in the document.
        identity: Hexadecimal digest that no other entry of any document has.
    """

    name: str
    wall_time: float
    body: JsonObject
    identity: str


@dataclass(frozen=True, slots=True)
class Document:
    """A TestResults document.

    Args:
        test: Name of the test.
        started_at: When it started, UTC; of our own documents to the microsecond, although the
            schema's field has whole seconds.
        entries: In the order of the document.
        text: The whole document as it was read, without a byte order mark.
        body: The same, parsed.
        identity: Hexadecimal digest of test, start, host, arguments, and names and times of all
            entries, so that two runs of one second with the same arguments differ. Layout and
            spelling of fields do not change it.
    """

    test: str
    started_at: datetime
    entries: tuple[BenchmarkEntry, ...]
    text: str
    body: JsonObject
    identity: str

    @property
    def arguments(self) -> dict[str, str]:
        """Its arguments of the form ``--name=value``; if a name repeats, the last."""
        return _named(_arguments(self.body))

    @property
    def info(self) -> str:
        """The text without the environment variables of the process that ran the test.

        TensorFlow's own tool writes all of them, passwords and keys included.
        Source: tensorflow/tools/test/run_and_gather_logs.py.
        """
        body: JsonObject = dict(self.body)
        for name in ("runConfiguration", "run_configuration"):
            run = body.get(name)
            if isinstance(run, dict):
                body[name] = {k: v for k, v in run.items() if k not in ("envVars", "env_vars")}
        return self.text if body == self.body else json.dumps(body, ensure_ascii=False)


def parse(content: bytes) -> Document:
    """Read a document.

    Raises:
        DocumentRejectedError: If it is no JSON or no TestResults.
    """
    try:
        decoded = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentRejectedError(f"it is no JSON, which is UTF-8: {error}") from error
    return _document(_loaded(decoded), decoded)


def _loaded(decoded: str) -> Any:
    """Read JSON, with the NaN and Infinity that Python's writer leaves in it."""
    try:
        body = orjson.loads(decoded)
    except orjson.JSONDecodeError as error:
        if "NaN" not in decoded and "Infinity" not in decoded:
            raise DocumentRejectedError(f"it is no JSON: {error}") from error
        try:
            body = json.loads(decoded)
        except (ValueError, RecursionError) as slow:
            raise DocumentRejectedError(f"it is no JSON: {slow}") from slow
    try:
        # Refuses what is nested too deeply to be written again, and surrogates without a partner.
        orjson.dumps(body)
    except TypeError as error:
        raise DocumentRejectedError(f"it is no JSON that others can read: {error}") from error
    return body


def _document(loaded: Any, decoded: str) -> Document:
    body = _typed(dict, loaded, "all of it")
    test = _typed(str, body.get("name"), "name") or _typed(str, body.get("target"), "target")
    if not test:
        raise _refused("it has neither a name nor a target")
    started_at = _started_at(body)
    if body.get("entries") is None:
        raise _refused("it has no entries")
    listed = _typed(dict, body["entries"], "entries").get("entry")
    found = [_entry(one, at) for at, one in enumerate(_typed(list, listed, "entries.entry"))]
    arguments = _arguments(body)
    # Of the field's second: what was published before keeps its identity.
    identity = _identity(test, started_at, body, arguments, found)
    entries = tuple(
        replace(entry, identity=f"{identity[:DIGITS_OF_DOCUMENT]}{place:08x}")
        for place, entry in enumerate(found)
    )
    began = _exactly(started_at, _named(arguments).get(STARTED_AT, ""))
    return Document(test, began, entries, decoded, cast("JsonObject", body), identity)


def _started_at(body: _Message) -> datetime:
    value = _field(body, "startTime")
    if value is None:
        raise _refused("it has no startTime")
    seconds = _number(value, "startTime")
    if not 0 <= seconds < _TOO_LATE:
        raise _refused(f"startTime is {seconds:.15g}, and no time in seconds from 1970 to 9999")
    return datetime.fromtimestamp(seconds, UTC)


def _exactly(second: datetime, told: str) -> datetime:
    """Return the start to the microsecond if an argument tells it: runs keep their order by it."""
    try:
        moment = datetime.fromisoformat(told).astimezone(UTC)
    except (ValueError, OverflowError):
        return second
    return moment if timedelta(0) <= moment - second < timedelta(seconds=1) else second


def _entry(value: Any, position: int) -> BenchmarkEntry:
    """Read an entry, whose identity is not known yet."""
    where = f"entries.entry[{position}]"
    body = _typed(dict, value, where)
    name = _typed(str, body.get("name"), f"{where}.name")
    if not name:
        raise _refused(f"{where} has no name")
    wall_time = _number(_field(body, "wallTime"), f"{where}.wallTime")
    return BenchmarkEntry(name, wall_time, cast("JsonObject", body), "")


def _arguments(body: _Message) -> list[str]:
    run = _typed(dict, _field(body, "runConfiguration"), "runConfiguration")
    found = _typed(list, _field(run, "argument"), "runConfiguration.argument")
    return [_typed(str, one, "runConfiguration.argument") for one in found]


def _named(arguments: Sequence[str]) -> dict[str, str]:
    parts = (one.removeprefix("--").partition("=") for one in arguments if one[:2] == "--")
    return {name: value for name, _, value in parts}


def _identity(
    test: str,
    started_at: datetime,
    body: _Message,
    arguments: Sequence[str],
    found: Sequence[BenchmarkEntry],
) -> str:
    machine = _typed(dict, _field(body, "machineConfiguration"), "machineConfiguration")
    names = (
        test,
        _typed(str, machine.get("hostname"), "machineConfiguration.hostname"),
        list(arguments),
        [entry.name for entry in found],
    )
    times = [_number(_field(body, "runTime"), "runTime"), *(entry.wall_time for entry in found)]
    microseconds = (started_at - _EPOCH) // timedelta(microseconds=1)
    told = json.dumps([microseconds, *names]).encode()
    # A text holds no zero byte, so what follows it cannot be taken for a part of it.
    told += b"\0" + struct.pack(f"<{len(times)}d", *times)
    return hashlib.sha256(told).hexdigest()[:_DIGITS]


def subject_in(document: Document) -> Subject:
    """Return the subject of a document.

    Documents of other programs, and of older versions of Benchyard, say less: the host, and the
    digest of the case or else the commit. Such a subject has no digest.
    """
    told = document.arguments
    whole = object_of_text(told.get(SUBJECT, ""))
    if whole:
        return whole
    host = _inside(document.body, "machineConfiguration", "hostname")
    if told.get("case-hash"):
        return {**known_of(document.test, host, None), "case": {"hash": told["case-hash"]}}
    return known_of(document.test, host, _inside(document.body, "commitId", "hash"))


def known_of(test: str, host: str | None, commit: str | None) -> Subject:
    """Return the subject of a test of which at most host and commit are known."""
    found: JsonObject = {"host": host} if host else {}
    return {**found, "repositories": {test: {"commit": commit}}} if commit else found


def object_of_text(text: Json) -> JsonObject:
    """Read an object from JSON, such as a subject; empty if the text was cut, or is none."""
    try:
        # Not orjson: names of programs may be no Unicode.
        found: Any = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return cast("JsonObject", found) if isinstance(found, dict) else {}


def suspect_in(entry: JsonObject) -> str:
    """Return why the numbers of an entry cannot be trusted; empty if they can."""
    told = object_in(object_in(entry, "extras"), "suspect")
    reason = told.get("stringValue", told.get("string_value"))
    return reason if isinstance(reason, str) else ""


def _inside(body: JsonObject, name: str, member: str) -> str | None:
    found = _field(body, name)
    value = cast("JsonObject", found).get(member) if isinstance(found, dict) else None
    return value if isinstance(value, str) and value else None


# -- fields of proto3's JSON, read as protobuf's parser does; null is a field that is not set
# Source: https://protobuf.dev/programming-guides/json (JSON Mapping).


def _field(message: _Message, name: str) -> Any:
    """Return the value of a field under any of its names; None if it is not set."""
    value = message.get(name)
    return message.get(_also(name)) if value is None else value


def _also(name: str) -> str:
    """Return the other name of a field: that of test_log.proto, or that of its first version.

    ``startTime`` is ``start_time`` there, and ``argument`` was ``arguments``.
    """
    return "arguments" if name == "argument" else _CAPITAL.sub(lambda a: f"_{a[0].lower()}", name)


def _typed(kind: type, value: Any, where: str) -> Any:
    """Read a message, a repeated field or a text; one that is not set is empty.

    Raises:
        DocumentRejectedError: If it is something else.
    """
    if value is None:
        return kind()
    if isinstance(value, kind):
        return value
    raise _refused(f"{where} is {_kind(value)}, and no {_KINDS[kind].split()[1]}")


def _number(value: Any, where: str) -> float:
    """Read a number, NaN and infinity among them; one that is not set is 0.

    Raises:
        DocumentRejectedError: If it is something else, or too large for a double.
    """
    if isinstance(value, float):
        return value
    if value is None:
        return 0.0
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        short = repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
        raise _refused(f"{where} is {short}, and no number")
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _refused(f"{where} is {_kind(value)}, and no number")
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if math.isinf(converted) and not str(value).endswith("Infinity"):
        raise _refused(f"{where} is {str(value)[:_SHOWN]}…, which is larger than any double")
    return converted


def _refused(reason: str) -> DocumentRejectedError:
    """Return the error for JSON that is no TestResults document."""
    return DocumentRejectedError(f"it is no TestResults document: {reason}")


def _kind(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else _KINDS.get(type(value), "a number")
