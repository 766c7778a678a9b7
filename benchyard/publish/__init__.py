"""From finished runs to sinks and archives: spooled, uploaded, archived; nothing lost or twice."""

from benchyard.publish.compression import Compression
from benchyard.publish.outcome import Happening, Listener, PublishResult
from benchyard.publish.publisher import Manner
from benchyard.publish.routes import Route, route
from benchyard.publish.service import (
    Uploaded,
    archive_uploaded,
    check_sinks,
    publish_all,
    upload_runs,
)
from benchyard.publish.sinks.retry import AFTER_A_CASE, Patience

__all__ = [
    "AFTER_A_CASE",
    "Compression",
    "Happening",
    "Listener",
    "Manner",
    "Patience",
    "PublishResult",
    "Route",
    "Uploaded",
    "archive_uploaded",
    "check_sinks",
    "publish_all",
    "route",
    "upload_runs",
]
