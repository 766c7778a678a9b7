"""Scanner's profiles: what each worker of a job did, read, counted, and written as a trace.

``Profile`` has the names that Scanner's users know.
"""

from benchyard.traces.scanner.profile import Profile, ProfileStatistics

__all__ = ["Profile", "ProfileStatistics"]
