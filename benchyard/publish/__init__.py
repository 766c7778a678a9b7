"""Publishing: a finished run goes to a spool, from there to a sink, and then to an archive."""

from benchyard.publish.compression import Compression
from benchyard.publish.outcome import Happening, Listener, PublishResult
from benchyard.publish.publisher import Manner
from benchyard.publish.routes import Route, route
from benchyard.publish.service import (
    archive_uploaded,
    check_sinks,
    publish_all,
    upload_runs,
)
from benchyard.publish.sinks.sending import AFTER_A_CASE, RetryPolicy

__all__ = [
    "AFTER_A_CASE",
    "Compression",
    "Happening",
    "Listener",
    "Manner",
    "PublishResult",
    "RetryPolicy",
    "Route",
    "archive_uploaded",
    "check_sinks",
    "publish_all",
    "route",
    "upload_runs",
]
