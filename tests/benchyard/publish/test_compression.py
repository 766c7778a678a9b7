"""Compressed files."""

import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core import zstandard
from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.compression import Compression, compress, decompress

COMPRESSED = (Compression.GZ, Compression.ZST)


@given(st.binary(), st.sampled_from(Compression))
def test_what_was_compressed_comes_back(content: bytes, how: Compression) -> None:
    assert decompress(compress(content, how), how) == content
    assert compress(content, how) == compress(content, how)


@given(st.binary(min_size=1), st.sampled_from(COMPRESSED))
def test_anything_else_is_rejected_or_was_compressed(content: bytes, how: Compression) -> None:
    with contextlib.suppress(DocumentRejectedError):
        assert len(decompress(content, how, 1000)) <= 1000


@pytest.mark.parametrize("how", COMPRESSED)
@given(st.data())
def test_what_is_cut_off_is_rejected(how: Compression, data: st.DataObject) -> None:
    whole = compress(b"x" * 5000 + b"the end", how)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(DocumentRejectedError, match="damaged"):
        decompress(whole[:cut], how)


@pytest.mark.parametrize("how", COMPRESSED)
def test_what_would_fill_the_memory_is_rejected(how: Compression) -> None:
    bomb = compress(b"\0" * 50_000_000, how)
    assert len(bomb) < 60_000
    with pytest.raises(DocumentRejectedError, match="larger than 1 MiB"):
        decompress(bomb, how, 1024**2)
    assert len(decompress(compress(b"x" * 1000, how), how, 1000)) == 1000


def test_several_frames_are_one_content() -> None:
    big = bytes(range(256)) * 40
    frames = b"".join(map(zstandard.compress, (b"one ", big)))
    assert decompress(frames, Compression.ZST) == b"one " + big
    assert decompress(gzip.compress(b"one ") * 2, Compression.GZ) == b"one one "


def test_a_stream_of_zstd_does_not_say_its_size() -> None:
    unsaid = {int(zstandard.CompressionParameter.content_size_flag): 0}
    whole = zstandard.compress(b"y" * 300_000, options=unsaid)
    assert decompress(whole, Compression.ZST) == b"y" * 300_000
    with pytest.raises(DocumentRejectedError, match="end is missing"):
        decompress(whole[:-1], Compression.ZST)
