"""What is in a job of Scanner beside its trace."""

from collections.abc import Mapping

from benchyard.catalogue.formats.measurements import facts
from benchyard.core.quantity import duration
from benchyard.core.table import COUNT, SECONDS, Column
from benchyard.traces.scanner.profile import Profile
from benchyard.web.tables import DataTable

_INTERVALS = (
    Column("worker", "Worker"),
    Column("interval", "Interval"),
    Column("total_s", "Total", SECONDS),
)
_COUNTERS = (
    Column("worker", "Worker"),
    Column("counter", "Counter"),
    Column("sum", "Sum over workers", COUNT),
)


def job_facts(job: Profile) -> Mapping[str, str]:
    """Return what its descriptor tells."""
    told = job.descriptor
    return facts(
        job=told.id if told else None,
        name=told.name if told else None,
        rows_read_at_once=told.io_packet_size if told else None,
        rows_computed_at_once=told.work_packet_size if told else None,
        nodes_alive_at_its_end=told.num_nodes if told else None,
        total_time=duration(job.statistics().total_time),
    )


def job_tables(job: Profile) -> list[DataTable]:
    """Return its intervals and counters, summed over the workers of each kind."""
    found = job.statistics()
    intervals = [
        (kind, name, seconds)
        for kind, times in found.seconds.items()
        for name, seconds in sorted(times.items(), key=lambda one: -one[1])
    ]
    counters = [
        (kind, name, value)
        for kind, counts in found.counters.items()
        for name, value in sorted(counts.items())
    ]
    made = (
        DataTable("intervals", "Intervals by kind of worker", _INTERVALS, intervals),
        DataTable("job-counters", "Counters by kind of worker", _COUNTERS, counters),
    )
    return [table for table in made if table.rows]
