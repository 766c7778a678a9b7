"""How large a document may be once it is decompressed."""

from benchyard.publish.compression import LARGEST, Compression
from benchyard.publish.upload_one import expected


def test_a_compressed_file_may_hold_a_hundred_times_its_size() -> None:
    assert expected(7, Compression.NONE) == 7
    assert expected(7, Compression.ZST) == 700
    assert LARGEST == 64 * 1024**2
