"""What the lab burns is told apart by process, in nanoseconds, and a dead one is no error."""

import subprocess
import sys

from benchyard.host import measuring
from benchyard.host.measuring import HarnessMeter, used_by_lab


def test_process_that_is_gone_or_came_later_is_null() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    meter = HarnessMeter({"server": child.pid})
    start = meter.read(memory=False)
    child.communicate(b"\n")
    used = used_by_lab(start, meter.read(memory=True))
    meter.close()
    assert used == {"server_cpu_s": None, "server_memory_bytes": None}
    harness = {"flow_cpu_s": 0.5, "server_cpu_s": None, "sampler_cpu_s": 0.25, "x_bytes": 9.0}
    assert measuring.lab_cpu_s(harness) == 0.75
    late = used_by_lab(
        measuring.HarnessReading({}), measuring.HarnessReading({"server": 5_000_000_000})
    )
    assert late["server_cpu_s"] is None
