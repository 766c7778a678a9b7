"""Stops of this very process: told by a parent, or by whoever presses Ctrl-Z."""

import os
import signal
import time

from benchyard.process.usage import hearing_stops, stops_since
from tests.benchyard.process.test_launcher import status
from tests.children import speaking
from tests.conftest import eventually

WAITS = """
import sys, time
from benchyard.process.usage import hearing_stops, stops_since
begun = time.monotonic_ns()
with hearing_stops():
    print("ready", flush=True)
    sys.stdin.read()
print(len(stops_since(begun)), len(stops_since(time.monotonic_ns())))
"""


def test_a_stop_is_heard_when_it_is_over() -> None:
    with speaking(WAITS) as (one, said):
        assert said == "ready\n"
        one.send_signal(signal.SIGSTOP)  # what Ctrl-Z sends is dropped without a terminal
        assert eventually(lambda: status(one.pid, "State").startswith("T"), 60)
        one.send_signal(signal.SIGCONT)
        assert one.communicate(timeout=60)[0] == "1 0\n"


def test_outside_nothing_is_heard() -> None:
    begun, before = time.monotonic_ns(), signal.getsignal(signal.SIGCONT)
    with hearing_stops():
        os.kill(os.getpid(), signal.SIGCONT)
        assert eventually(lambda: stops_since(begun))
    os.kill(os.getpid(), signal.SIGCONT)
    assert len(stops_since(begun)) == 1
    assert signal.getsignal(signal.SIGCONT) is before
