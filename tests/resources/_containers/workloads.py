"""Programs in containers that count what they use, beside what the lab's counters say of them.

Executed as a program of its own, since one that becomes another user cannot go back: prints a line
of JSON for each program.
"""

import json
import os
import platform
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import docker
import requests
import urllib3

from benchyard.case.resource import CommandResult, step_context
from benchyard.host.counters import Counters
from benchyard.run.running_resources import owned_by
from resources.container import Container
from tests.resources.containers import container_in, said, workspace_in

#: What is imported late is not found by another user, to whom these folders may be closed.
EARLY = (docker, requests, urllib3)
SOCKET = Path("/var/run/docker.sock")
#: Source: Linux, arch/x86/entry/syscalls/syscall_64.tbl, scripts/syscall.tbl.
GETRUSAGE, CLOCK_GETTIME = (98, 228) if platform.machine() == "x86_64" else (165, 113)
#: What the kernel accounted for the program and its children, to its very end (getrusage(2)), and
#: how long it took (clock_gettime(2)).
TELLS = f"""
sub now {{ my $t = chr(0) x 16; syscall {CLOCK_GETTIME}, 1, $t; my ($s, $n) = unpack 'qq', $t;
  $s + $n / 1e9 }}
sub cpu {{ my $u = 0; for my $who (0, -1) {{
  my $r = chr(0) x 144; syscall {GETRUSAGE}, $who, $r;
  my @r = unpack 'q4', $r; $u += $r[0] + $r[2] + ($r[1] + $r[3]) / 1e6 }} $u }}
sub burn {{ my $end = (times)[0] + $_[0]; my $i = 0;
  while ((times)[0] < $end) {{ $i++ for 1 .. 1e4 }} }}
my $begin = now(); my %own;
"""
ENDS = """
$own{cpu_s} = cpu(); $own{run_s} = now() - $begin;
print '{', join(', ', map { qq("$_": $own{$_}) } keys %own), '}';
"""
#: Tells what memory of its own it has now.
PEAK = """
open F, '/proc/self/status'; my ($kib) = map { /RssAnon:\\s+(\\d+)/ } <F>;
$own{peak_bytes} = $kib * 1024;
"""
#: Takes bytes from the host until it has enough: its gateway is the host.
TAKES = """
open R, '/proc/net/route'; my ($hex) = map {{ /\\t00000000\\t([0-9A-F]{{8}})/ }} <R>;
socket my $s, 2, 1, 6; connect $s, pack('SnL', 2, {port}, hex $hex) . chr(0) x 8 or die "$!";
my $n = 0; while (my $got = sysread $s, my $piece, 1 << 20) {{ $n += $got }}
$own{{received_bytes}} = $n;
"""


def programs(scale: float, port: int) -> dict[str, str]:
    """Return the programs by name; at scale 1 each takes seconds.

    Memory is not scaled: what the engine itself takes in a container, up to 2 MB, must stay small.
    """
    write = f"""
    open O, '>', '/data/shared/out'; my $m = 'x' x 1e6; my $n = 0;
    for (1 .. {round(200 * scale)}) {{ $n += syswrite O, $m }}
    use IO::Handle; O->sync; $own{{written_bytes}} = $n;
    """
    twice = f"for (1 .. 2) {{ if (!fork) {{ burn({scale}); exit }} }} wait; wait;"
    return {
        "cpu": f"burn({2 * scale});",
        "memory": "my $n = 300e6; my $x = 'x' x $n;" + PEAK,
        "written": write,
        "network": TAKES.format(port=port),
        "children": twice,
    }


def main(user: int, scale: float, folder: Path) -> None:
    port = serve(round(1e9 * scale))
    if user:
        os.setgroups([SOCKET.stat().st_gid])
        os.setgid(user)
        os.setuid(user)
    chosen = programs(scale, port)
    for runs in (True, False):
        with container_in(workspace_in(folder / str(runs)), runs=runs) as made:
            for how, call in calls(made, runs=runs):
                for name, code in chosen.items():
                    arguments = ["perl", "-e", TELLS + code + ENDS]
                    measured = measure(made, partial(call, arguments), name)
                    told = {"name": name, "how": how, "runs": runs, **measured}
                    sys.stdout.write(json.dumps(told) + "\n")


def calls(made: Container, *, runs: bool) -> Iterator[tuple[str, Callable[..., CommandResult]]]:
    if runs:
        yield "execute", made.execute
    yield "run_to_end", made.run_to_end


def measure(made: Container, call: Callable[[], CommandResult], name: str) -> dict[str, Any]:
    """Do what the lab does for a step: read, let the command run, read, and take the difference."""
    counters = Counters()
    made.begin(name)
    with step_context(name):
        before = counters.read(owned_by(made))
        result = call()
        after = counters.read(owned_by(made))
    used = counters.used(before, after)
    told = {metric: value for metric, value in used.items() if metric.startswith("resource_")}
    reasons = dict(counters.reasons)
    counters.close()
    # The engine's own number of the duration is a command's value.
    return {
        "own": json.loads(said(result)),
        "used": told,
        "reasons": reasons,
        "run_s": result.values.get("run_s"),
    }


def serve(size: int) -> int:
    """Send bytes to whoever connects; return the port."""
    listening = socket.create_server(("0.0.0.0", 0))  # noqa: S104 - containers come from outside

    def send() -> None:
        piece = bytes(1 << 20)
        while True:
            line, _ = listening.accept()
            with line:
                left = size
                while left:
                    left -= line.send(piece[:left])

    threading.Thread(target=send, daemon=True).start()
    return listening.getsockname()[1]


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]))
