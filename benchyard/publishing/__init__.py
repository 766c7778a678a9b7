"""From finished runs to sinks and archives: spooled, uploaded, archived; nothing lost or twice."""

from benchyard.publishing.compression import Compression
from benchyard.publishing.opening import Route, route
from benchyard.publishing.outcome import Happening, Listener, Outcome
from benchyard.publishing.publisher import Manner
from benchyard.publishing.service import (
    Uploaded,
    archive_uploaded,
    check_sinks,
    publish_all,
    upload_runs,
)
from benchyard.sinks.patience import AFTER_A_CASE, Patience

__all__ = [
    "AFTER_A_CASE",
    "Compression",
    "Happening",
    "Listener",
    "Manner",
    "Outcome",
    "Patience",
    "Route",
    "Uploaded",
    "archive_uploaded",
    "check_sinks",
    "publish_all",
    "route",
    "upload_runs",
]
