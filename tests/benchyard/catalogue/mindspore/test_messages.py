import math
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchyard.catalogue.mindspore.messages import explain_of
from benchyard.traces.protobuf import WireError
from tests.benchyard.catalogue.mindspore.writing import explain

_INTEGERS = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=6)
_FLOATS = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=6)


@given(
    st.fixed_dictionaries(
        {
            "sample_id": st.integers(-(2**31), 2**31 - 1),
            "image_path": st.text(max_size=20),
            "ground_truth_label": _INTEGERS,
            "inference": st.fixed_dictionaries(
                {
                    "ground_truth_prob": _FLOATS,
                    "predicted_label": _INTEGERS,
                    "predicted_prob": _FLOATS,
                    "predicted_prob_sd": _FLOATS,
                }
            ),
            "hoc": st.lists(
                st.fixed_dictionaries(
                    {"label": st.integers(0, 9), "layer": st.just([{"box": [1, 2, 3, 4, 5]}])}
                ),
                max_size=3,
            ),
        }
    )
)
def test_what_googles_protobuf_writes_is_read(fields: dict[str, Any]) -> None:
    told = explain_of(explain(**fields))
    assert told is not None
    assert (told.sample_id, told.image) == (fields["sample_id"], fields["image_path"])
    assert list(told.truth) == fields["ground_truth_label"]
    inference = told.inference
    assert inference is not None
    assert list(inference.predicted_labels) == fields["inference"]["predicted_label"]
    assert list(inference.truth.means) == fields["inference"]["ground_truth_prob"]
    assert list(inference.predicted.means) == fields["inference"]["predicted_prob"]
    assert list(inference.predicted.deviations) == fields["inference"]["predicted_prob_sd"]
    assert [one.label for one in told.occlusions] == [one["label"] for one in fields["hoc"]]
    assert all(one.layers[0].boxes == ((1, 2, 3, 4), (5,)) for one in told.occlusions)


def test_packed_numbers_are_read_too() -> None:
    # Explain (6) with inference (4) with predicted_prob (3), two floats in one field.
    floats = b"\x00\x00\x00\x3f\x00\x00\xc0\x7f"
    inference = b"\x1a\x08" + floats
    told = explain_of(b"\x32\x0c\x22\x0a" + inference)
    assert told is not None
    assert told.inference is not None
    half, none = told.inference.predicted.means
    assert half == 0.5
    assert math.isnan(none)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for payload in (content, b"\x32" + bytes([len(content) % 128]) + content):
        with suppress(WireError):
            explain_of(payload)
