"""The schema as protobuf knows it, documents to read, and records to make documents of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message,
    message_factory,
    wrappers_pb2,
)

from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
WHEN = "2026-11-21T19:30:00.123456+00:00"
Field: TypeAlias = descriptor_pb2.FieldDescriptorProto

#: Message to its fields: number, name, type; ``*`` is repeated, ``kind:`` is in that oneof.
#: Source: tensorflow, third_party/xla/xla/tsl/protobuf/test_log.proto, commit 87d40f4.
FIELDS: Mapping[str, str] = {
    "EntryValue": "1 double_value kind:double, 2 string_value kind:string",
    "MetricEntry": "1 name string, 2 value double, 3 min_value .google.protobuf.DoubleValue, "
    "4 max_value .google.protobuf.DoubleValue",
    "BenchmarkEntry": "1 name string, 2 iters int64, 3 cpu_time double, 4 wall_time double, "
    "5 throughput double, 6 extras map:.tensorflow.EntryValue, 7 metrics *.tensorflow.MetricEntry",
    "BenchmarkEntries": "1 entry *.tensorflow.BenchmarkEntry",
    "BuildConfiguration": "1 mode string, 2 cc_flags *string, 3 opts *string",
    "CommitId": "1 changelist kind:int64, 2 hash kind:string, 3 snapshot string, "
    "4 pending_changelist int64",
    "CPUInfo": "1 num_cores int64, 2 num_cores_allowed int64, 3 mhz_per_cpu double, "
    "4 cpu_info string, 5 cpu_governor string, 6 cache_size map:int64",
    "MemoryInfo": "1 total int64, 2 available int64",
    "GPUInfo": "1 model string, 2 uuid string, 3 bus_id string",
    "PlatformInfo": "1 bits string, 2 linkage string, 3 machine string, 4 release string, "
    "5 system string, 6 version string",
    "AvailableDeviceInfo": "1 name string, 2 type string, 3 memory_limit int64, "
    "4 physical_description string",
    "MachineConfiguration": "1 hostname string, 7 serial_identifier string, "
    "2 platform_info .tensorflow.PlatformInfo, 3 cpu_info .tensorflow.CPUInfo, "
    "4 device_info *.google.protobuf.Any, "
    "5 available_device_info *.tensorflow.AvailableDeviceInfo, "
    "6 memory_info .tensorflow.MemoryInfo",
    "RunConfiguration": "1 argument *string, 2 env_vars map:string",
    "TestResults": "1 target string, 2 entries .tensorflow.BenchmarkEntries, "
    "3 build_configuration .tensorflow.BuildConfiguration, 4 commit_id .tensorflow.CommitId, "
    "5 start_time int64, 6 run_time double, "
    "7 machine_configuration .tensorflow.MachineConfiguration, "
    "8 run_configuration .tensorflow.RunConfiguration, 9 name string, "
    "10 benchmark_type enum:.tensorflow.TestResults.BenchmarkType, 11 run_mode string, "
    "12 tf_version string",
}
BENCHMARK_TYPES = [
    *("UNKNOWN", "CPP_MICROBENCHMARK", "PYTHON_BENCHMARK"),
    *("ANDROID_BENCHMARK", "EDGE_BENCHMARK", "IOS_BENCHMARK"),
]
TYPES = {"double": Field.TYPE_DOUBLE, "int64": Field.TYPE_INT64, "string": Field.TYPE_STRING}


class Schema:
    """test_log.proto in the real library."""

    def __init__(self) -> None:
        self.pool = descriptor_pool.DescriptorPool()
        for needed in (any_pb2, wrappers_pb2):
            self.pool.AddSerializedFile(needed.DESCRIPTOR.serialized_pb)
        self.pool.Add(_file())

    def parse(self, text: str) -> message.Message:
        """Read a document as strictly as the library does: nothing unknown is let pass."""
        found = self.pool.FindMessageTypeByName("tensorflow.TestResults")
        empty = message_factory.GetMessageClass(found)()
        return json_format.Parse(text, empty, descriptor_pool=self.pool)

    def print(self, document: message.Message, *, as_in_proto: bool = False) -> str:
        return json_format.MessageToJson(
            document, preserving_proto_field_name=as_in_proto, descriptor_pool=self.pool
        )


def _file() -> descriptor_pb2.FileDescriptorProto:
    made = descriptor_pb2.FileDescriptorProto(
        name="test_log.proto", package="tensorflow", syntax="proto3"
    )
    made.dependency.extend(["google/protobuf/any.proto", "google/protobuf/wrappers.proto"])
    for name, fields in FIELDS.items():
        described = made.message_type.add(name=name)
        if "kind:" in fields:
            described.oneof_decl.add(name="kind")
        for field in fields.split(", "):
            _add_field(described, *field.split())
    kinds = made.message_type[-1].enum_type.add(name="BenchmarkType")
    for number, name in enumerate(BENCHMARK_TYPES):
        kinds.value.add(name=name, number=number)
    return made


def _add_field(
    described: descriptor_pb2.DescriptorProto, number: str, name: str, told: str
) -> None:
    field = described.field.add(name=name, number=int(number), label=Field.LABEL_OPTIONAL)
    kind, _, of = told.rpartition(":")
    if told.startswith("*") or kind == "map":
        field.label = Field.LABEL_REPEATED
    if kind == "kind":
        field.oneof_index = 0
    if kind == "map":
        entry = described.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _add_field(entry, "1", "key", "string")
        _add_field(entry, "2", "value", of)
        of = f".tensorflow.{described.name}.{entry.name}"
    of = of.removeprefix("*")
    field.type = TYPES.get(of, Field.TYPE_ENUM if kind == "enum" else Field.TYPE_MESSAGE)
    if of not in TYPES:
        field.type_name = of


@pytest.fixture(scope="session")
def schema() -> Schema:
    return Schema()


@pytest.fixture(scope="session")
def sample() -> bytes:
    """A document that TensorFlow's own message printed."""
    return Path(__file__).with_name("tensorflow.json").read_bytes()


class Make:
    """Makes records of runs from the few things that a test is about."""

    @staticmethod
    def repetition(
        duration_s: float,
        used: Mapping[str, float | None] | None = None,
        values: Mapping[str, Json] | None = None,
        suspect: Sequence[str] = (),
        kind: str = "measured",
    ) -> Repetition:
        told = used or {}, values or {}
        return Repetition(kind, 0.0, duration_s, DONE, *told, suspect=tuple(suspect))

    @staticmethod
    def step(
        *repetitions: Repetition, name: str = "ask", outcome: Outcome = DONE, **more: Any
    ) -> StepRecord:
        attempt = Attempt(1, WHEN, 0.0, 1.0, outcome, repetitions)
        what = (1, name, f"Do {name}", "SQLite", "query", {"password": "in-a-parameter"})
        fields: dict[str, Any] = {"measure": True, "attempts": (attempt,)} | more
        return StepRecord(*what, outcome=outcome, **fields)

    @staticmethod
    def record(*steps: StepRecord, **more: Any) -> RunRecord:
        fields: dict[str, Any] = {
            "case": CASE,
            "run": 3,
            "outcome": DONE,
            "started_at": WHEN,
            "ended_at": WHEN,
            "duration_s": 2.5,
            "environment": ENVIRONMENT,
            "collector": {"interval_s": 0.1},
            "benchyard_version": "0.1.0",
        }
        return RunRecord(**(fields | more), steps=steps)


CASE: JsonObject = {
    "name": "tpch",
    "title": "tpch[scale=0.01]",
    "id": "urn:test:tpch",
    "point": {"scale": 0.01},
    "hash": "sha256:" + "0" * 64,
    "folder": "/home/somebody/cases/tpch",
}
ENVIRONMENT: JsonObject = {
    "host": "bench-01",
    "kernel": "Linux-6.1.0-18-amd64-x86_64-with-glibc2.36",
    "architecture": "x86_64",
    "cpu": {
        "model": "AMD EPYC 7763 64-Core Processor",
        "logical_cores": 16,
        "frequency_max_hz": 2_450_000_000,
        "governor": "performance",
        "affinity": "0-3,8",
        "cache_bytes": {"L2": 524288, "L3": 33554432},
    },
    "memory_bytes": 135077429248,
    "git": {"commit": "9f1c3a5be0d24e7c8a61f0d2b7c4e5a6978012ab", "dirty": True},
}


@pytest.fixture
def make() -> Make:
    return Make()
