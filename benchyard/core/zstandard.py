"""Zstandard as the standard library has it since Python 3.14; before that, its backport."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdError, ZstdFile, compress
else:
    from backports.zstd import CompressionParameter, ZstdError, ZstdFile, compress

__all__ = ["CompressionParameter", "ZstdError", "ZstdFile", "compress"]
