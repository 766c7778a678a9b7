"""Publishing: a finished run goes to a spool, from there to a sink, and then to an archive."""

from benchyard.publish.compression import Compression
from benchyard.publish.publisher import Manner
from benchyard.publish.sinks.sending import RetryPolicy

__all__ = ["Compression", "Manner", "RetryPolicy"]
