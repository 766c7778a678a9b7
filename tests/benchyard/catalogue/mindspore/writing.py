"""Writes summary files as MindSpore does: messages by Google's protobuf, checksums bit by bit."""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

_KINDS = {"double": 1, "float": 2, "int64": 3, "int32": 5, "string": 9, "bytes": 12}
#: Message to its fields: name, number, kind; a star behind the kind means repeated.
_MESSAGES = {
    "Event": "wall_time 1 double, step 2 int64, version 3 string, summary 5 Summary, "
    "explain 6 Explain",
    "Summary": "value 1 Value*",
    "Value": "tag 1 string, scalar_value 3 float, image 4 bytes",
    "Explain": "sample_id 1 int32, image_path 2 string, ground_truth_label 3 int32*, "
    "inference 4 Inference, explanation 5 Explanation*, benchmark 6 Benchmark*, "
    "metadata 7 Metadata, status 8 string, hoc 9 Hoc*",
    "Inference": "ground_truth_prob 1 float*, predicted_label 2 int32*, predicted_prob 3 float*, "
    "ground_truth_prob_sd 4 float*, ground_truth_prob_itl95_low 5 float*, "
    "ground_truth_prob_itl95_hi 6 float*, predicted_prob_sd 7 float*, "
    "predicted_prob_itl95_low 8 float*, predicted_prob_itl95_hi 9 float*",
    "Explanation": "explain_method 1 string, label 2 int32, heatmap_path 3 string",
    "Benchmark": "benchmark_method 1 string, explain_method 2 string, total_score 3 float, "
    "label_score 4 float*",
    "Metadata": "label 1 string*, explain_method 2 string*, benchmark_method 3 string*",
    "Hoc": "label 1 int32, mask 2 string, layer 3 HocLayer*",
    "HocLayer": "prob 1 float, box 2 int32*",
}


def _event_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="xai.proto", package="xai", syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split(", "):
            called, number, kind = field.split()
            made: Any = message.field.add(name=called, number=int(number), label=1)
            if kind.endswith("*"):
                made.label = 3
            kind = kind.removesuffix("*")
            if kind in _KINDS:
                made.type = _KINDS[kind]
            else:
                made.type, made.type_name = 11, f".xai.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # pyright: ignore[reportUnknownMemberType]
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("xai.Event"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


_EVENT = _event_class()


def event(**fields: Any) -> bytes:
    """Return an event; its fields as protobuf's JSON has them."""
    message = json_format.ParseDict({"wall_time": 1.7e9, **fields}, _EVENT())
    return message.SerializeToString()


def explain(**fields: Any) -> bytes:
    """Return an event of an explain job."""
    return event(explain=fields)


METADATA = explain(
    metadata={
        "label": ["cat", "dog"],
        "explain_method": ["Gradient", "GradCAM"],
        "benchmark_method": ["Localization"],
    }
)


def sample(number: int, **fields: Any) -> bytes:
    """Return an event that tells all of a sample."""
    told: dict[str, Any] = {
        "sample_id": number,
        "image_path": f"_explain_1700000000/original/{number}.png",
        "ground_truth_label": [0],
        "inference": {
            "ground_truth_prob": [0.75],
            "predicted_label": [1],
            "predicted_prob": [0.625],
        },
        "explanation": [
            {"explain_method": "Gradient", "label": 0, "heatmap_path": f"h/{number}.png"}
        ],
    }
    return explain(**(told | fields))


def crc32c(content: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of some bytes, bit by bit. Source: RFC 3720, B.4."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def checksum(content: bytes) -> bytes:
    """Return the masked checksum of some bytes, as it stands in the file."""
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def head(length: int) -> bytes:
    """Return the head of a record of some bytes."""
    packed = struct.pack("<Q", length)
    return packed + checksum(packed)


def record(payload: bytes) -> bytes:
    """Return a record."""
    return head(len(payload)) + payload + checksum(payload)


def records(payloads: Iterable[bytes]) -> bytes:
    """Return records one after the other."""
    return b"".join(record(payload) for payload in payloads)


def write_job(folder: Path, *payloads: bytes, number: int = 1_700_000_000) -> Path:
    """Write a job's summary file and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"mindspore.summary.{number}_explain"
    path.write_bytes(records(payloads))
    return path
